"use strict";
// The token stands behind the #, which browsers send to nobody. It leaves the address before anything else happens.
const given = new URLSearchParams(location.hash.slice(1));
history.replaceState(null, "", location.pathname);
const told = document.getElementById("told");
// Only a place in the view can be named, so a link leads nowhere else.
const to = (given.get("to") ?? "").startsWith("?") ? "/" + given.get("to") : "/";
fetch("/login", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ token: given.get("token") ?? "" }),
}).then(
  (answer) => {
    told.textContent = answer.ok ? "You are logged in." : "That is not the token. Open the URL that the server printed.";
    if (answer.ok) location.replace(to);
  },
  () => {
    told.textContent = "The server does not answer.";
  },
);
