// A short animation of the demo page: a question, its answer, the card of a badge, the passage, and a refusal.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Widget } from "../lib/widget.mjs";

const SIZE = { width: 1280, height: 800 };
/** Width of the animation in pixels. */
const WIDTH = 960;

/** Writes a GIF of the page, with ffmpeg, and a screenshot of its answer. */
export async function animation({ page, demo }, { file, still }) {
  await page.setViewportSize(SIZE);
  await page.goto(demo.info.page_url);
  if (await page.locator("#auth-submit").isVisible()) await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
  const widget = new Widget(page);
  await widget.find("input").focus();
  await page.locator("evidence-chat[data-state=ready]").waitFor();
  const frames = await record(page, () => play(page, widget, still));
  await encode(frames, file);
}

async function play(page, widget, still) {
  await sleep(500);
  await widget.find("input").pressSequentially("Can I get my money back after two weeks?", { delay: 35 });
  await sleep(300);
  await widget.find("input").press("Enter");
  await widget.find("assistant").last().waitFor();
  await widget.replyEnds("done");
  await sleep(1600);
  await widget.find("marker").first().hover();
  await sleep(2200);
  await page.screenshot({ path: still });
  await widget.find("marker").first().click();
  await sleep(2200);
  await page.mouse.move(5, 5);
  await widget.find("input").pressSequentially("What is the capital of France?", { delay: 35 });
  await widget.find("input").press("Enter");
  await widget.find("assistant").nth(1).waitFor();
  await widget.replyEnds("refused");
  await sleep(2500);
}

/** Records the page while `play` runs: JPEG images, each with the seconds for which it was on the screen. */
async function record(page, play) {
  const devtools = await page.context().newCDPSession(page);
  const frames = [];
  devtools.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    frames.push({ image: Buffer.from(data, "base64"), at: metadata.timestamp });
    devtools.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined);
  });
  await devtools.send("Page.startScreencast", { format: "jpeg", quality: 92, maxWidth: SIZE.width });
  await play();
  await devtools.send("Page.stopScreencast");
  await devtools.detach();
  return frames.map(({ image, at }, index) => ({ image, seconds: (frames[index + 1]?.at ?? at + 2) - at }));
}

async function encode(frames, file) {
  const folder = await mkdtemp(join(tmpdir(), "evidence-chat-frames-"));
  try {
    const list = [];
    for (const [index, { image, seconds }] of frames.entries()) {
      await writeFile(join(folder, `${index}.jpg`), image);
      list.push(`file ${index}.jpg`, `duration ${seconds.toFixed(3)}`);
    }
    await writeFile(join(folder, "list.txt"), list.join("\n"));
    const filter = `fps=10,scale=${WIDTH}:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=96:stats_mode=diff[p];[b][p]paletteuse=dither=none:diff_mode=rectangle`;
    const args = ["-y", "-loglevel", "error", "-f", "concat", "-i", join(folder, "list.txt"), "-vf", filter, file];
    await promisify(execFile)("ffmpeg", args);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
