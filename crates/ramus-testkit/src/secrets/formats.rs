//! What keys look like, from what their issuers publish.

/// Where a secret can be told for what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anywhere: it has a form of its own.
    Anywhere,
    /// Only under a name: it is any run of characters otherwise.
    Named(&'static str),
    /// It brings its surroundings along; the secret is what `<…>` marks.
    Whole,
}

/// One kind of secret.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What it is.
    pub kind: &'static str,
    /// How it is spelled, for [`super::fill`].
    pub template: &'static str,
    /// Where it is recognisable.
    pub place: Place,
}

const fn free(kind: &'static str, template: &'static str) -> Format {
    Format { kind, template, place: Place::Anywhere }
}

const fn named(kind: &'static str, name: &'static str, template: &'static str) -> Format {
    Format { kind, template, place: Place::Named(name) }
}

const fn whole(kind: &'static str, template: &'static str) -> Format {
    Format { kind, template, place: Place::Whole }
}

/// Every kind.
pub const FORMATS: &[Format] = &[
    // models
    free("openai legacy", "sk-{alnum:20}T3BlbkFJ{alnum:20}"),
    free("openai project", "sk-proj-{url:74}T3BlbkFJ{url:74}"),
    free("openai service", "sk-svcacct-{url:48-120}"),
    free("openai admin", "sk-admin-{url:58}T3BlbkFJ{url:58}"),
    free("anthropic api", "sk-ant-api03-{url:93}AA"),
    free("anthropic oauth", "sk-ant-oat01-{url:86}AA"),
    free("anthropic admin", "sk-ant-admin01-{url:93}AA"),
    free("openrouter", "sk-or-v1-{hex:64}"),
    free("deepseek", "sk-{hex:32}"),
    free("google api", "AIza{url:35}"),
    free("groq", "gsk_{alnum:52}"),
    free("xai", "xai-{alnum:80}"),
    free("perplexity", "pplx-{alnum:48}"),
    free("replicate", "r8_{alnum:37}"),
    free("huggingface", "hf_{letter:34}"),
    free("cerebras", "csk-{lower:48}"),
    free("nvidia", "nvapi-{url:64}"),
    free("fireworks", "fw_{alnum:22-24}"),
    free("langsmith", "lsv2_pt_{hex:32}_{hex:10}"),
    free("langfuse", "sk-lf-{hex:8}-{hex:4}-4{hex:3}-a{hex:3}-{hex:12}"),
    free("pinecone", "pcsk_{alnum:5-6}_{alnum:63}"),
    free("tavily", "tvly-dev-{alnum:32}"),
    free("voyage", "pa-{url:43}"),
    named("mistral", "MISTRAL_API_KEY", "{alnum:32}"),
    named("cohere", "COHERE_API_KEY", "{alnum:40}"),
    named("azure openai", "AZURE_OPENAI_API_KEY", "{hex:32}"),
    // clouds
    free("aws access key id", "AKIA{base32:16}"),
    free("aws temporary key id", "ASIA{base32:16}"),
    named("aws secret key", "AWS_SECRET_ACCESS_KEY", "{base64:40}"),
    named("aws session token", "AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2Vj{base64:280-400}=="),
    free("aws bedrock", "ABSKQmVkcm9ja0FQSUtleS{base64:108}="),
    free("google oauth access", "ya29.a0{url:120-180}"),
    free("google oauth client", "GOCSPX-{url:28}"),
    free("google refresh", "1//0{alnum:1}{url:60-100}"),
    free("azure client secret", "{alnum:3}8Q~{url:34}"),
    whole(
        "azure storage",
        "DefaultEndpointsProtocol=https;AccountName=shopassets;AccountKey=<{base64:86}==>;EndpointSuffix=core.windows.net",
    ),
    whole(
        "azure sas",
        "https://shop.blob.core.windows.net/in/a.csv?sv=2024-11-04&se=2026-12-01T00%3A00%3A00Z&sr=b&sp=r&sig=<{alnum:40}%2B%3D>",
    ),
    named("azure devops", "AZURE_DEVOPS_PAT", "{lower:52}"),
    free("digitalocean", "dop_v1_{hex:64}"),
    free("alibaba", "LTAI5t{alnum:18}"),
    named("cloudflare", "CLOUDFLARE_API_TOKEN", "{url:40}"),
    free("cloudflare origin", "v1.0-{hex:24}-{hex:146}"),
    free("fly", "fo1_{url:43}"),
    free("heroku", "HRKU-AA{url:58}"),
    free("vault", "hvs.CAESI{url:88}"),
    free("terraform cloud", "{alnum:14}.atlasv1.{url:67}"),
    free("pulumi", "pul-{hex:40}"),
    free("databricks", "dapi{hex:32}"),
    free("planetscale", "pscale_tkn_{url:43}"),
    free("supabase", "sbp_{hex:40}"),
    free("netlify", "nfp_{alnum:36}"),
    free("doppler", "dp.pt.{alnum:43}"),
    // code and packages
    free("github personal", "ghp_{alnum:36}"),
    free("github server", "ghs_{alnum:36}"),
    free("github fine-grained", "github_pat_{alnum:22}_{alnum:59}"),
    free("gitlab personal", "glpat-{url:20}"),
    free("gitlab runner", "glrt-{url:20}"),
    free("gitlab routable", "glpat-{url:27}.0{lower:1}.{lower:9}"),
    free("bitbucket", "ATBB{alnum:24}{hex:8}"),
    free("atlassian", "ATATT3xFfGF0{url:176}={hex:8}"),
    free("npm", "npm_{alnum:36}"),
    free("pypi", "pypi-AgEIcHlwaS5vcmc{url:140-170}"),
    free("rubygems", "rubygems_{hex:48}"),
    free("crates.io", "cio{alnum:32}"),
    free("nuget", "oy2{lower:43}"),
    free("docker hub", "dckr_pat_{url:27}"),
    free("sonar", "sqp_{hex:40}"),
    free("buildkite", "bkua_{hex:40}"),
    free("sentry user", "sntryu_{hex:64}"),
    free("postman", "PMAK-{hex:24}-{hex:34}"),
    free("figma", "figd_{url:40}"),
    free("linear", "lin_api_{alnum:40}"),
    free("notion", "ntn_{digit:11}{alnum:35}"),
    free("airtable", "pat{alnum:14}.{hex:64}"),
    free("grafana service", "glsa_{alnum:32}_{hex:8}"),
    free("new relic", "NRAK-{upper:27}"),
    free("dynatrace", "dt0c01.{base32:24}.{base32:64}"),
    named("datadog", "DD_API_KEY", "{hex:32}"),
    // messages and money
    free("slack bot", "xoxb-{digit:11-13}-{digit:11-13}-{alnum:24}"),
    free("slack user", "xoxp-{digit:11}-{digit:12}-{digit:13}-{hex:32}"),
    free("slack app", "xapp-1-A0{upper:9}-{digit:13}-{hex:64}"),
    whole("slack webhook", "https://hooks.slack.com/services/T0{upper:8}/B0{upper:8}/<{alnum:24}>"),
    free("discord bot", "MT{alnum:22-24}.G{url:5}.{url:38}"),
    whole("discord webhook", "https://discord.com/api/webhooks/{digit:18}/<{url:68}>"),
    free("telegram", "{digit:9-10}:AA{url:33}"),
    free("twilio key", "SK{hex:32}"),
    named("twilio auth", "TWILIO_AUTH_TOKEN", "{hex:32}"),
    free("sendgrid", "SG.{url:22}.{url:43}"),
    free("mailgun", "key-{hex:32}"),
    free("mailchimp", "{hex:32}-us{digit:1-2}"),
    free("brevo", "xkeysib-{hex:64}-{alnum:16}"),
    free("resend", "re_{alnum:8}_{alnum:24}"),
    free("stripe secret", "sk_live_{alnum:24}"),
    free("stripe long", "sk_live_51{alnum:97}"),
    free("stripe restricted", "rk_live_{alnum:99}"),
    free("stripe webhook", "whsec_{alnum:32}"),
    free("square", "sq0atp-{url:22}"),
    free("shopify", "shpat_{hex:32}"),
    free("flutterwave", "FLWSECK-{hex:32}-X"),
    free("typeform", "tfp_{url:59}"),
    free("contentful", "CFPAT-{url:43}"),
    free("mapbox", "sk.eyJ1Ijoi{url:60-80}.{url:22}"),
    // standards
    free("jwt", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{url:60-200}.{url:43}"),
    free("age", "AGE-SECRET-KEY-1{bech32:58}"),
    whole(
        "pem",
        "-----BEGIN PRIVATE KEY-----\n<{base64:64}\n{base64:64}\n{base64:64}\n{base64:30}==>\n-----END PRIVATE KEY-----",
    ),
    whole(
        "openssh",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n<b3BlbnNzaC1rZXktdjEAAAAABG5vbmU{base64:39}\n{base64:70}\n{base64:70}\n{base64:22}=>\n-----END OPENSSH PRIVATE KEY-----",
    ),
    whole("database url", "postgres://shop:<{password:14-24}>@db.internal:5432/shop?sslmode=require"),
    whole("redis url", "redis://default:<{alnum:32}>@cache-7.internal:6379/0"),
    whole("git remote", "https://oauth2:<{alnum:26}>@git.shop.internal/team/shop.git"),
    whole(
        "sql server",
        "Server=tcp:db.shop.internal,1433;Database=shop;User ID=app;Password=<{password:16}>;Encrypt=True",
    ),
    whole("bearer", "Authorization: Bearer <{alnum:40-64}>"),
    whole("basic", "authorization: Basic <YXBwOn{base64:22}=>"),
    whole("api key header", "X-Api-Key: <{alnum:32}>"),
    whole("cookie", "Cookie: theme=dark; session_id=<{alnum:32}>; lang=de"),
    whole("set-cookie", "Set-Cookie: connect.sid=<s%3A{url:32}.{base64:43}>; Path=/; HttpOnly; Secure"),
    whole(
        "signed url",
        "https://s3.eu-central-1.amazonaws.com/shop/in.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature=<{hex:64}>",
    ),
    // what people make up
    named("database password", "DB_PASSWORD", "{password:12-20}"),
    named("signing secret", "JWT_SECRET", "{base64:43}="),
    named("django key", "SECRET_KEY", "django-insecure-{password:50}"),
    named("service token", "SHOP_SERVICE_TOKEN", "{hex:40}"),
    named("webhook secret", "WEBHOOK_SECRET", "{alnum:24-48}"),
    named("encryption key", "ENCRYPTION_KEY", "{hex:64}"),
    named("client secret", "OAUTH_CLIENT_SECRET", "{url:32-48}"),
    named("private token", "GITLAB_PRIVATE_TOKEN", "{url:20}"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::FORMATS;
    use crate::random::Random;
    use crate::secrets::fill;

    #[test]
    fn every_hole_is_filled() {
        let left: Vec<String> = FORMATS.iter().map(|format| fill(format.template, &mut Random::new(1))).collect();
        assert!(left.iter().all(|filled| !filled.contains(['{', '}'])), "{left:?}");
    }

    #[test]
    fn there_are_more_than_sixty_kinds_each_once() {
        let kinds: HashSet<_> = FORMATS.iter().map(|format| format.kind).collect();
        assert_eq!(kinds.len(), FORMATS.len());
        assert!(kinds.len() >= 60, "{}", kinds.len());
    }
}
