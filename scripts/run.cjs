// Runs one of this repository's commands from whatever state a clone is in: installs what is missing, builds what
// changed, and goes on under a Node that is new enough. Plain old JavaScript without dependencies, because it has to
// start on any Node and before anything is installed.
"use strict";

var childProcess = require("child_process");
var fs = require("fs");
var path = require("path");

var root = path.resolve(__dirname, "..");
var needed = [22, 19];
var vitest = "node_modules/vitest/vitest.mjs";
var commands = {
  build: [],
  quickstart: [["scripts/quickstart.ts"]],
  test: [[vitest, "run"]],
  "test:all": [[vitest, "run", "--config", "vitest.all.config.ts"]],
  "test:consumers": [["test/package/consumers/main.ts"]],
  "test:faults": [[vitest, "run", "--config", "vitest.faults.config.ts"]],
  "test:spark": [
    ["scripts/install-spark.ts"],
    [vitest, "run", "--config", "vitest.all.config.ts", "test/meaning/sql/spark.slow.test.ts"],
  ],
  bench: [["test/bench/bench.ts"]],
  soak: [["scripts/soak.ts"]],
  docs: [["node_modules/typedoc/bin/typedoc"]],
  check: [
    ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings"],
    ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--noEmit"],
    ["node_modules/typescript/bin/tsc", "-p", "tsconfig.browser.json"],
    ["node_modules/knip/bin/knip.js"],
    ["scripts/check-sources.ts"],
  ],
};

// Ctrl-C is for the command that runs; this waits for it to end.
process.on("SIGINT", function () {});
main(process.argv[2], process.argv.slice(3));

function main(name, args) {
  if (!Object.hasOwn(commands, name)) stop("unknown command " + name + "; known: " + Object.keys(commands).join(", "));
  if (!isAtLeast(process.versions.node, [16, 0]))
    stop("Node " + process.versions.node + " is too old to install with; install Node 20 or newer");
  install();
  var node = nodeToUse();
  build(node);
  runAll(node, commands[name], args);
}

/** Runs one after another, whatever comes of each. The last gets the words of the command line; the first failure is the exit code. */
function runAll(node, runs, args) {
  // Tests are hundreds of processes that load the same modules. What is measured must start as a user's does.
  var isTest = runs.some((run) => run[0] === vitest);
  var cached = isTest ? { NODE_COMPILE_CACHE: path.join(root, "node_modules", ".cache", "compiled") } : {};
  var failed = 0;
  var running;
  // What is asked of this process is meant for the command, which may have something to tidy up.
  ["SIGTERM", "SIGHUP"].forEach(function (signal) {
    process.on(signal, function () {
      if (running) running.kill(signal);
    });
  });
  next(0);

  function next(i) {
    if (i === runs.length) {
      process.exitCode = failed;
      return;
    }
    running = childProcess.spawn(node, i === runs.length - 1 ? runs[i].concat(args) : runs[i], optionsOf(node, cached));
    running.on("error", function (error) {
      stop(node + " cannot be run (" + error.message + ")");
    });
    running.on("exit", function (status, signal) {
      if (signal) console.error("error: " + runs[i][0] + " was ended by " + signal + ".");
      if (failed === 0) failed = status === null ? 1 : status;
      next(i + 1);
    });
  }
}

/** Installs the locked versions, unless exactly those are installed. */
function install() {
  var stamp = path.join(root, "node_modules", ".installed");
  var wanted = fingerprint(
    ["package.json", "local/package.json", "package-lock.json", ".npmrc"].concat(examplePackages()),
  );
  if (read(stamp) === wanted || isInstalled()) return;
  var npm = process.env.npm_execpath;
  var command =
    npm && /\.c?js$/.test(npm) ? [process.execPath, npm] : [process.platform === "win32" ? "npm.cmd" : "npm"];
  var version = childProcess.spawnSync(command[0], command.slice(1).concat("--version"), { encoding: "utf8" });
  if (version.error || version.status !== 0)
    stop("npm cannot be run (" + reasonOf(version) + "); install Node with npm, or repair it");
  if (!isAtLeast(version.stdout.trim(), [8, 0]))
    stop("npm " + version.stdout.trim() + " is too old; install npm 8 or newer: npm install --global npm");
  console.log("Installing the locked dependencies ...");
  var installed = childProcess.spawnSync(
    command[0],
    command
      .slice(1)
      .concat(["ci", "--include=dev", "--include=optional", "--loglevel=error", "--no-audit", "--no-fund"]),
    {
      cwd: root,
      stdio: ["ignore", "ignore", "inherit"],
      env: Object.assign({}, process.env, { npm_config_engine_strict: "false" }),
    },
  );
  stopIfInterrupted(installed, "installing");
  if (installed.error || installed.status !== 0)
    stop("npm ci failed (" + reasonOf(installed) + "); its own message stands above");
  if (!isInstalled())
    stop(
      "npm ci ended without installing everything that package-lock.json names; run it by hand to see why: npm ci --include=dev",
    );
  fs.writeFileSync(stamp, wanted);
}

/** Whether what npm installed last is what the lock file names, by whatever hand it was installed. */
function isInstalled() {
  var installed = packagesIn(path.join(root, "node_modules", ".package-lock.json"));
  var locked = packagesIn(path.join(root, "package-lock.json"));
  if (!installed || !locked) return false;
  return Object.keys(locked).every(function (name) {
    var entry = locked[name];
    if (name === "" || entry.link || name.indexOf("node_modules/") !== 0) return true;
    if (!installed[name]) return entry.optional === true || entry.devOptional === true;
    return installed[name].version === entry.version && fs.existsSync(path.join(root, name));
  });
}

function packagesIn(file) {
  var text = read(file);
  try {
    return text === undefined ? undefined : JSON.parse(text).packages;
  } catch (error) {
    return undefined;
  }
}

/** This Node where it is new enough, else the one that the npm package `node` brings. */
function nodeToUse() {
  var bundled = path.join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
  // npm puts node_modules/.bin first on the PATH, so that this may be the bundled Node already.
  var own = /node\/v?([\d.]+)/.exec(process.env.npm_config_user_agent || "");
  var machine = own ? own[1] : process.versions.node;
  if (isAtLeast(machine, needed)) return process.execPath;
  var version = childProcess.spawnSync(bundled, ["--version"], { encoding: "utf8" });
  if (version.error || version.status !== 0) {
    stop(
      "Node " +
        machine +
        " is older than " +
        needed.join(".") +
        ', and the npm package "node" did not bring one (' +
        reasonOf(version) +
        "); install Node 24, or let npm run that package's install script: npm rebuild node",
    );
  }
  console.log(
    "Node " +
      machine +
      " is older than " +
      needed.join(".") +
      ": going on under Node " +
      version.stdout.trim().slice(1) +
      ' from the npm package "node".',
  );
  return bundled;
}

/** Compiles the sources, unless what they compile to is there. */
function build(node) {
  var stamp = path.join(root, "dist", ".built");
  var sources = ["sdk", "meaning", "provider", "stack", "contract-tools", "report", "policy", "local", "cli"].reduce(
    (files, folder) => files.concat(filesBelow(folder)),
    ["tsconfig.json", "tsconfig.build.json", "package.json", "package-lock.json", "scripts/join-packages.ts"],
  );
  var wanted = fingerprint(sources);
  if (read(stamp) === wanted) return;
  console.log("Building ...");
  // The command is compiled against the types of the local package.
  ["local", "."].forEach(function (folder) {
    fs.rmSync(path.join(root, folder, "dist"), { recursive: true, force: true });
    var status = run(node, ["node_modules/typescript/bin/tsc", "-p", path.join(folder, "tsconfig.build.json")]);
    if (status !== 0) stop("the build failed; the compiler's messages stand above");
  });
  if (run(node, ["scripts/join-packages.ts"]) !== 0) stop("the build failed; the message stands above");
  fs.writeFileSync(stamp, wanted);
}

function run(node, args) {
  var result = childProcess.spawnSync(node, args, optionsOf(node));
  if (result.error) stop(node + " cannot be run (" + reasonOf(result) + ")");
  stopIfInterrupted(result, "building");
  if (result.signal) console.error("error: " + args[0] + " was ended by " + result.signal + ".");
  return result.status === null ? 1 : result.status;
}

function optionsOf(node, extraEnv) {
  return {
    cwd: root,
    stdio: "inherit",
    // The engine and the provider host start "node" by its name.
    env: Object.assign({}, process.env, extraEnv, { PATH: path.dirname(node) + path.delimiter + process.env.PATH }),
  };
}

function fingerprint(files) {
  var hash = require("crypto").createHash("sha256");
  files.forEach((file) => {
    hash.update(file + "\0" + (read(path.join(root, file)) || "") + "\0");
  });
  return hash.digest("hex");
}

function filesBelow(folder) {
  return fs
    .readdirSync(path.join(root, folder), { withFileTypes: true })
    .reduce((files, entry) => {
      var file = folder + "/" + entry.name;
      if (entry.name === "dist" || entry.name === "node_modules") return files;
      return files.concat(entry.isDirectory() ? filesBelow(file) : [file]);
    }, [])
    .sort();
}

function examplePackages() {
  return fs.readdirSync(path.join(root, "examples")).map((name) => "examples/" + name + "/package.json");
}

function read(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function isAtLeast(version, wanted) {
  var parts = version.split(".").map(Number);
  return parts[0] > wanted[0] || (parts[0] === wanted[0] && parts[1] >= wanted[1]);
}

function reasonOf(result) {
  return result.error ? result.error.message : result.signal ? "signal " + result.signal : "exit code " + result.status;
}

/** A Ctrl-C at the terminal ends what runs there, too. */
function stopIfInterrupted(result, doing) {
  if (result.signal !== "SIGINT" && result.status !== 130) return;
  console.error("Interrupted while " + doing + "; the next run does that again.");
  process.exit(130);
}

function stop(sentence) {
  console.error("error: " + sentence + ".");
  process.exit(1);
}
