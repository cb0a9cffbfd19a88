//! The tree of a command line: which nodes hold commands, which hold words, and what is done about each kind. A kind that is
//! not listed here makes the reading unclear. What is inside is looked at all the same, for the rules that deny.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::check::{are_apart, children, covers_everything, is_comment, refused};
use super::redirect;
use super::variable::is_harmless;
use super::word::{Expansion, Word, read_word};
use super::{MOST_BYTES, Pending, Reading};

/// How often the parser may report that it is still at it: once for a hundred steps.
const MOST_CHECKS: usize = 5_000;

/// How deeply nodes may be nested. Each level costs another look at the text inside it.
const MOST_DEPTH: usize = 200;

/// What is at hand while one command line is read.
pub(super) struct Walk<'s, 't, 'r> {
    pub(super) source: &'s str,
    pub(super) reading: &'r mut Reading,
    pub(super) pending: &'r mut Vec<Pending>,
    pub(super) stack: Vec<Node<'t>>,
}

/// Reads one command line into the reading; commands that need a closer look become pending.
pub(super) fn read_source(source: &str, reading: &mut Reading, pending: &mut Vec<Pending>) {
    if source.len() > MOST_BYTES {
        return reading.doubt("it is too long");
    }
    if let Some(reason) = refused(source) {
        reading.doubt(reason);
    }
    let Some(tree) = parse(source) else { return reading.doubt("it cannot be parsed") };
    let root = tree.root_node();
    if is_deeper_than(root, MOST_DEPTH) {
        return reading.doubt("it is nested too deeply");
    }
    if root.has_error() {
        reading.doubt("it is not understood as bash");
    }
    if !covers_everything(root, source) {
        reading.doubt("part of it belongs to no command");
    }
    let mut walk = Walk { source, reading, pending, stack: vec![root] };
    while let Some(node) = walk.stack.pop() {
        walk.visit(node);
    }
}

/// Parses a command line, unless it takes more steps than any sensible one does.
fn parse(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut checks = 0;
    let mut watch = |_: &ParseState| {
        checks += 1;
        if checks > MOST_CHECKS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut input = |offset: usize, _| source.as_bytes().get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut input, None, Some(ParseOptions::new().progress_callback(&mut watch)))
}

fn is_deeper_than(root: Node<'_>, most: usize) -> bool {
    let mut stack = vec![(root, 0)];
    while let Some((node, depth)) = stack.pop() {
        if depth > most {
            return true;
        }
        stack.extend(children(node).into_iter().map(|child| (child, depth + 1)));
    }
    false
}

impl<'t> Walk<'_, 't, '_> {
    pub(super) fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn visit(&mut self, node: Node<'t>) {
        if node.is_error() || node.is_missing() {
            self.reading.doubt("it is not understood as bash");
        }
        if !node.is_named() {
            return self.token(node);
        }
        match node.kind() {
            "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "do_group"
            | "negated_command"
            | "process_substitution"
            | "case_item"
            | "case_statement"
            | "variable_assignments" => self.descend(node),
            "comment" if is_comment(self.source, node.start_byte()) => {}
            "comment" => self.reading.doubt("a comment that bash does not see"),
            "command" => self.command(node, &[]),
            "redirected_statement" => redirect::statement(self, node),
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                if !redirect::redirection(self, node).is_empty() {
                    self.reading.doubt("words behind a redirection");
                }
            }
            "variable_assignment" => self.assignment(node),
            "declaration_command" | "unset_command" => self.declaration(node),
            "test_command" => self.test(node),
            "for_statement" => self.for_loop(node),
            "function_definition" => self.function(node),
            "arithmetic_expansion" => self.arithmetic(node),
            "command_substitution" => self.substitution(node),
            "expansion" => self.expansion(node),
            "simple_expansion" | "variable_name" | "special_variable_name" => {}
            "word" | "string" | "raw_string" | "ansi_c_string" | "translated_string" | "number" | "concatenation"
            | "brace_expression" => drop(self.word(node)),
            "extglob_pattern" | "regex" if !self.text(node).contains(['$', '`', '(']) => {}
            kind => {
                self.reading.doubt(format!("{} is not looked into", kind.replace('_', " ")));
                self.descend(node);
            }
        }
    }

    /// Tokens say what the structure around them is; those of arithmetic are not followed.
    fn token(&mut self, node: Node<'t>) {
        if matches!(node.kind(), "((" | "))" | "$[" | "``" | "$`") {
            self.reading.doubt("arithmetic");
        }
    }

    pub(super) fn descend(&mut self, node: Node<'t>) {
        self.stack.extend(children(node).into_iter().rev());
    }

    /// Reads a word, and puts what it expands on the stack.
    pub(super) fn word(&mut self, node: Node<'t>) -> Word {
        let mut found = Vec::new();
        let mut stack = vec![node];
        while let Some(next) = stack.pop() {
            if matches!(
                next.kind(),
                "simple_expansion"
                    | "expansion"
                    | "command_substitution"
                    | "process_substitution"
                    | "arithmetic_expansion"
            ) {
                found.push(next);
            } else {
                stack.extend(children(next).into_iter().rev());
            }
        }
        let expansions: Vec<Expansion> = found
            .iter()
            .map(|node| Expansion { range: node.byte_range(), splits: self.text(*node).contains('@') })
            .collect();
        self.stack.extend(found);
        read_word(self.source, node.byte_range(), &expansions).unwrap_or_else(|reason| {
            self.reading.doubt(reason);
            Word::unknown()
        })
    }

    /// Reads a simple command; `more` are words that stand behind its redirections.
    pub(super) fn command(&mut self, node: Node<'t>, more: &[Word]) {
        let mut words = Vec::new();
        let mut last: Option<Node<'t>> = None;
        for child in children(node) {
            let attached = matches!(child.kind(), "file_redirect" | "herestring_redirect")
                && child.child_by_field_name("descriptor").is_none();
            if let Some(last) = last
                && !attached
                && !are_apart(self.source, last.end_byte(), child.start_byte())
            {
                self.reading.doubt("words that touch or are on different lines");
            }
            last = Some(child);
            match child.kind() {
                "variable_assignment" => self.assignment(child),
                "file_redirect" | "herestring_redirect" => words.extend(redirect::redirection(self, child)),
                "command_name" => {
                    if let Some(name) = children(child).first() {
                        words.push(self.word(*name));
                    }
                }
                "subshell" | "regex" | "comment" => {
                    self.reading.doubt("something that is no word among words");
                    self.stack.push(child);
                }
                "=~" | "==" => words.push(Word::exact(child.kind())),
                _ => words.push(self.word(child)),
            }
        }
        words.extend_from_slice(more);
        self.pending.push(Pending::Words(words));
    }

    fn assignment(&mut self, node: Node<'t>) {
        match node.child_by_field_name("name") {
            Some(name) if name.kind() == "variable_name" && is_harmless(self.text(name)) => {}
            Some(name) => {
                let reason = format!("it sets {}", self.text(name));
                self.reading.doubt(reason);
                self.stack.push(name);
            }
            None => self.reading.doubt("an assignment to nothing"),
        }
        let Some(value) = node.child_by_field_name("value") else { return };
        if value.kind() != "array" {
            return self.stack.push(value);
        }
        for element in children(value).into_iter().filter(Node::is_named) {
            if self.text(element).starts_with('[') {
                self.reading.doubt("an array with subscripts");
            }
            self.stack.push(element);
        }
    }

    /// Reads `export`, `local`, `unset` and the like: only plain names, and options that keep values as they are.
    fn declaration(&mut self, node: Node<'t>) {
        let mut last = None;
        for child in children(node) {
            if last.is_some_and(|end| !are_apart(self.source, end, child.start_byte())) {
                self.reading.doubt("words that touch or are on different lines");
            }
            last = Some(child.end_byte());
            let text = self.text(child).to_owned();
            match child.kind() {
                "variable_assignment" => self.assignment(child),
                "variable_name" | "word" if is_harmless(&text) => {}
                "word" if matches!(text.as_str(), "-x" | "-r" | "-g" | "-a" | "-A" | "-v") => {}
                _ if child.is_named() => {
                    self.reading.doubt(format!("it declares {text}"));
                    self.stack.push(child);
                }
                _ => self.pending.push(Pending::Words(vec![Word::exact(text), Word::unknown()])),
            }
        }
    }

    /// Reads `[ … ]` and `[[ … ]]`. The first is a command to bash, so operators inside it would be redirections; the second
    /// evaluates arithmetic for some operators, which can run commands.
    fn test(&mut self, node: Node<'t>) {
        let double = self.text(node).starts_with("[[");
        self.reading
            .commands
            .push(super::Simple { words: vec![Word::exact(if double { "[[" } else { "[" }), Word::unknown()] });
        let mut stack = children(node);
        while let Some(next) = stack.pop() {
            let text = self.text(next).to_owned();
            match next.kind() {
                "unary_expression" | "binary_expression" => stack.extend(children(next)),
                "parenthesized_expression" if double => stack.extend(children(next)),
                "[" | "]" | "[[" | "]]" | "!" | "=" | "==" | "!=" | "-a" | "-o" => {}
                "=~" | "&&" | "||" | "<" | ">" | "(" | ")" if double => {}
                "test_operator" if matches!(text.as_str(), "-v" | "-R") => {
                    self.reading.doubt(format!("{text} in a test"));
                }
                "test_operator" if double && is_arithmetic(&text) => self.reading.doubt(format!("{text} in [[ ]]")),
                "test_operator" => {}
                _ => self.stack.push(next),
            }
            if !next.is_named() && !double && matches!(next.kind(), "<" | ">" | "&&" | "||" | "(" | ")") {
                self.reading.doubt("an operator in [ ]");
            }
        }
    }

    fn for_loop(&mut self, node: Node<'t>) {
        for child in children(node) {
            if child.kind() == "variable_name" {
                if !is_harmless(self.text(child)) {
                    let reason = format!("it sets {}", self.text(child));
                    self.reading.doubt(reason);
                }
            } else {
                self.stack.push(child);
            }
        }
    }

    fn function(&mut self, node: Node<'t>) {
        for child in children(node) {
            if Some(child) != node.child_by_field_name("name") {
                self.stack.push(child);
            }
        }
    }

    /// Arithmetic evaluates the values of its variables again, so only numbers are followed.
    fn arithmetic(&mut self, node: Node<'t>) {
        let plain = |letter: char| letter.is_ascii_digit() || " +-*/%()<>=!&|^~?:,$".contains(letter);
        if !self.text(node).chars().all(plain) || self.text(node).starts_with("$[") {
            self.reading.doubt("arithmetic");
            for child in children(node).into_iter().filter(Node::is_named) {
                self.stack.push(child);
            }
        }
    }

    /// Reads `$(…)`, and `` `…` `` as a command line of its own, because its backslashes are taken away first.
    fn substitution(&mut self, node: Node<'t>) {
        let text = self.text(node).to_owned();
        let Some(inner) = text.strip_prefix('`').and_then(|text| text.strip_suffix('`')) else {
            return self.descend(node);
        };
        if inner.contains(['\\', '#', '`']) {
            self.reading.doubt("backticks with escapes or comments");
        }
        self.pending.push(Pending::Source(inner.replace('\\', "")));
    }

    /// Reads `${…}`: a name, and at most an operator that neither evaluates nor follows the value.
    fn expansion(&mut self, node: Node<'t>) {
        let text = self.text(node).to_owned();
        let inner = text.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or_default();
        let counted = inner.strip_prefix('#').unwrap_or(inner);
        let end =
            counted.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(counted.len());
        let (name, rest) = counted.split_at_checked(end).unwrap_or((counted, ""));
        let keeps =
            ["-", ":-", "+", ":+", "?", ":?", "#", "%", "/", "^", ","].iter().any(|start| rest.starts_with(start));
        let assigns = (rest.starts_with('=') || rest.starts_with(":=")) && is_harmless(name);
        let plain = !rest.contains(['$', '`', '<', '>', '\'', '"', '\\', '{']);
        if name.is_empty() || !plain || !(rest.is_empty() || keeps || assigns) {
            self.reading.doubt("an expansion with operators");
            for child in children(node).into_iter().filter(Node::is_named) {
                self.stack.push(child);
            }
        }
    }
}

fn is_arithmetic(operator: &str) -> bool {
    matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}
