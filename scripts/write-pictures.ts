// Writes the pictures of the README into docs/pictures/, from what the command prints in a real run. It takes chromium
// from the PATH, and the command as it is built: npm run build && node scripts/write-pictures.ts
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import markdownIt from "markdown-it";
import { playStory } from "./pictures/story.ts";

const pictures = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
/** In CSS pixels; a picture has 1.4 times as many, for sharp text. */
const width = 960;

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    chromium("--version");
  } catch {
    console.error("error: chromium cannot be run. What to do: install it, and put it on the PATH.");
    return 1;
  }
  const { plan, drift } = await playStory();
  const folder = mkdtempSync(join(tmpdir(), "merchant-rules-pictures-"));
  try {
    photograph(commentPage(plan), join(pictures, "plan-comment.webp"), folder);
    photograph(drift, join(pictures, "drift-report.webp"), folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
  return 0;
}

/** Returns a page with a comment on a pull request as a person sees it: its first line is a comment of HTML, and hidden. */
function commentPage(markdown: string): string {
  const comment = markdownIt({ html: true, linkify: false }).render(markdown);
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; padding: 16px; background: #f6f8fa; color: #1f2328; font: 14px/1.5 "Liberation Sans", Arial, sans-serif; }
    main { background: #fff; border: 1px solid #d1d9e0; border-radius: 6px; overflow: hidden; }
    header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; color: #59636e; }
    header b { color: #1f2328; }
    article { padding: 4px 16px 16px; }
    h3 { margin: 12px 0; font-size: 17.5px; }
    p { margin: 12px 0 8px; }
    table { border-collapse: collapse; }
    th, td { padding: 5px 13px; border: 1px solid #d1d9e0; text-align: left; }
    tr:nth-child(even) td { background: #f6f8fa; }
    code { padding: 2px 5px; border-radius: 6px; background: #eff1f3; font: 12px "Liberation Mono", monospace; }
  </style><main><header><b>github-actions</b> commented</header><article>${comment}</article></main>`;
}

/** Takes a picture of a page from its top to its bottom, in a frame. */
function photograph(html: string, file: string, folder: string): void {
  const page = join(folder, "page.html");
  writeFileSync(page, framed(html));
  const address = pathToFileURL(page).href;
  const title = /<title>([\d.]+)<\/title>/.exec(chromium(`--window-size=${width},400`, "--dump-dom", address));
  if (title === null) throw new Error(`chromium does not say how high the page for ${file} is`);
  const height = Math.ceil(Number(title[1]));
  chromium(`--window-size=${width},${height}`, "--force-device-scale-factor=1.4", `--screenshot=${file}`, address);
  console.log(`${file}: ${width} x ${height}`);
}

/** Puts a page into a frame whose title gives its height. The report itself runs no script: its own policy forbids it. */
function framed(html: string): string {
  return `<!doctype html><meta charset="utf-8"><title></title><style>
    body { margin: 0; background: #fff; }
    iframe { display: block; box-sizing: border-box; width: 100%; border: 1px solid #d1d9e0; }
  </style><iframe srcdoc="${html.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe><script>
    const frame = document.querySelector("iframe");
    frame.addEventListener("load", () => {
      const content = frame.contentDocument.documentElement;
      frame.style.height = Math.ceil(content.getBoundingClientRect().height) + 2 + "px";
      document.title = document.documentElement.getBoundingClientRect().height;
    });
  </script>`;
}

function chromium(...words: string[]): string {
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"];
  return execFileSync("chromium", [...flags, ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
