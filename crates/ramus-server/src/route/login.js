"use strict";
// The token stands behind the #, which browsers send to nobody. It leaves the address before anything else happens.
const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
history.replaceState(null, "", location.pathname);
const told = document.getElementById("told");
fetch("/login", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ token }),
}).then(
  (answer) => {
    told.textContent = answer.ok ? "You are logged in." : "That is not the token. Open the URL that the server printed.";
  },
  () => {
    told.textContent = "The server does not answer.";
  },
);
