// The one door of our scripts: each module listens for what it cares about, none knows the others.
// They speak through DOM events ("toast") and data attributes; swapped content needs no set-up.
import "./theme.js";
import "./time.js";
import "./toast.js";
import "./errors.js";
import "./dialog.js";
import "./confirm.js";
import "./menu.js";
import "./copy.js";
import "./keys.js";
import "./palette.js";
import "./panes.js";
import "./stick.js";
import "./scroll.js";
import "./composer.js";
import "./checks.js";
import "./tokens.js";
import "./unsaved.js";
import "./kept.js";
import "./adapter.js";
import "./board.js";
