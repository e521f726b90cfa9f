import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { z } from "zod";
import { isJson, type Json } from "../../sdk/json/index.ts";
import { newFolder } from "./folder.ts";

export const hasChromium = spawnSync("chromium", ["--version"], { stdio: "ignore" }).status === 0;

const flags = [
  ..."--headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking".split(
    " ",
  ),
  ..."--disable-component-update --disable-sync --remote-debugging-port=0 --remote-allow-origins=*".split(" "),
];
const answerSchema = z.looseObject({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly isDark?: boolean;
}

/** A page in a headless browser, which a test looks at and types into as a person does. */
export class Browser {
  /** The page's errors, those of its policy included. */
  readonly complaints: string[] = [];
  /** The addresses that it asked for. */
  readonly asked: string[] = [];
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: z.output<typeof answerSchema>) => void>();
  #sent = 0;
  #loaded: (() => void) | undefined;

  static async open(): Promise<Browser> {
    const folder = newFolder();
    const child = spawn("chromium", [...flags, `--user-data-dir=${folder}`, "about:blank"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const address = await new Promise<string>((found, failed) => {
      let said = "";
      child.on("exit", (code) => failed(new Error(`chromium ended with ${code}: ${said}`)));
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const [, url] = /DevTools listening on (ws:\S+)/.exec(said) ?? [];
        if (url !== undefined) found(url);
      });
    });
    const tabs = await (await fetch(`http://${new URL(address).host}/json/list`)).json();
    const [tab] = z.array(z.looseObject({ type: z.string(), webSocketDebuggerUrl: z.string() })).parse(tabs);
    const socket = new WebSocket(tab?.webSocketDebuggerUrl ?? "");
    await new Promise((done, failed) => {
      socket.addEventListener("open", done);
      socket.addEventListener("error", () => failed(new Error("the browser does not answer")));
    });
    const browser = new Browser(child, folder, socket);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await browser.send(`${domain}.enable`);
    return browser;
  }

  private constructor(child: ChildProcess, folder: string, socket: WebSocket) {
    this.#child = child;
    this.#folder = folder;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#heard(answerSchema.parse(JSON.parse(String(data)))));
  }

  /** Opens an address, and waits until it is loaded. */
  async goTo(address: string, { width = 1280, height = 900, isDark = false }: Look = {}): Promise<void> {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: isDark ? "dark" : "light" }],
    });
    const loaded = new Promise<void>((done) => {
      this.#loaded = done;
    });
    await this.send("Page.navigate", { url: address });
    await loaded;
  }

  /** The value of an expression in the page. */
  async see(expression: string): Promise<Json> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    const value = z.looseObject({ value: z.unknown().optional() }).parse(result).value ?? null;
    if (!isJson(value)) throw new Error(`${expression} is not JSON`);
    return value;
  }

  /** Presses a key, as `Tab`, `Enter`, `a`. */
  async press(key: string): Promise<void> {
    const text = key === "Enter" ? "\r" : key === "Space" ? " " : key.length === 1 ? key : undefined;
    const codes: Record<string, number> = { Tab: 9, Enter: 13, Space: 32 };
    const named = { key: key === "Space" ? " " : key, code: key, windowsVirtualKeyCode: codes[key] ?? 0 };
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...named, ...(text === undefined ? {} : { text }) });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...named });
  }

  async type(text: string): Promise<void> {
    await this.send("Input.insertText", { text });
  }

  /** A picture as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(z.string().parse(data), "base64");
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.#child.on("exit", done));
    this.#socket.close();
    this.#child.kill();
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async send(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    this.#sent += 1;
    const id = this.#sent;
    const answer = new Promise<z.output<typeof answerSchema>>((done) => this.#waiting.set(id, done));
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  #heard(answer: z.output<typeof answerSchema>): void {
    const { id, method, params } = answer;
    if (id !== undefined) this.#waiting.get(id)?.(answer);
    if (method === "Page.loadEventFired") this.#loaded?.();
    if (method === "Runtime.exceptionThrown" || method === "Log.entryAdded")
      this.complaints.push(JSON.stringify(params));
    if (method === "Network.requestWillBeSent")
      this.asked.push(z.looseObject({ request: z.looseObject({ url: z.string() }) }).parse(params).request.url);
  }
}
