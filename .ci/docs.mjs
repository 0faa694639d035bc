// Builds docs/ as a site into dist/docs: static pages without scripts, readable offline. A page that the navigation
// does not list, a link or an anchor that leads nowhere fails the build.
import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import MarkdownIt from 'markdown-it';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Every page once, in reading order.
 *
 * @type {readonly (readonly [string, readonly string[]])[]}
 */
export const navigation = [
  ['', ['index.md']],
  ['First steps', ['first-run.md', 'canvas.md', 'minivln.md', 'gymnasium.md', 'r2r.md', 'llm.md']],
  [
    'Evaluating',
    [
      'batch-evaluation.md',
      'batched-inference.md',
      'recording-and-replay.md',
      'comparison.md',
      'import-export.md',
      'troubleshooting.md',
    ],
  ],
  [
    'Authors',
    ['graph-format.md', 'write-a-typescript-nodeset.md', 'python-nodesets.md', 'coming-from-agentcanvas.md'],
  ],
  ['Elsewhere', ['remote.md', 'spawners.md']],
  [
    'Reference',
    [
      'glossary.md',
      'host-protocol.md',
      'security.md',
      'reliability.md',
      'simulation.md',
      'mutation.md',
      'unproven.md',
    ],
  ],
  ['Contributors', ['architecture.md', 'codebase-map.md', 'adr/index.md']],
];

const css = `
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b6470; --line: #dfe3e8; --back: #fff; --tint: #f5f7f9; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4af; --line: #2d343b; --back: #14181c; --tint: #1b2025; --link: #7db8f5; } }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--back); display: grid; grid-template-columns: 240px minmax(0, 1fr); }
nav { border-right: 1px solid var(--line); padding: 20px 16px; height: 100vh; overflow: auto; position: sticky; top: 0; font-size: 13px; }
nav h2 { font-size: 12px; color: var(--soft); margin: 16px 0 4px; font-weight: 600; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 2px 8px; border-radius: 4px; color: inherit; text-decoration: none; }
nav a:hover, nav a:focus-visible { background: var(--tint); }
nav a[aria-current] { background: var(--tint); font-weight: 600; }
main { padding: 24px 40px 80px; max-width: 860px; }
h1 { font-size: 26px; line-height: 1.2; } h2 { font-size: 19px; margin-top: 32px; } h3 { font-size: 16px; }
a { color: var(--link); }
code { font: 13px/1.5 ui-monospace, monospace; background: var(--tint); padding: 1px 4px; border-radius: 3px; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: 4px; padding: 12px; overflow: auto; }
pre code { padding: 0; background: none; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); }
img { max-width: 100%; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--back); }
@media (max-width: 760px) { body { display: block; } nav { height: auto; position: static; border-right: 0; border-bottom: 1px solid var(--line); } main { padding: 16px; } }
`;

/** `folder` holds the sources, `output` gets the site. Throws an Error that lists every problem, unless told to say them only. */
export async function buildDocs({
  folder = path.join(root, 'docs'),
  output = path.join(root, 'dist/docs'),
  onProblems = (problems) => {
    throw new Error(problems.join('\n'));
  },
} = {}) {
  const sources = await readPages(folder);
  const listed = navigation.flatMap(([, files]) => files).filter((file) => sources.has(file));
  const problems = [...sources.keys()]
    .filter((file) => !listed.includes(file) && !file.startsWith('adr/'))
    .map((file) => `docs/${file} is not in the navigation of .ci/docs.mjs`);
  const pages = new Map([...sources].map(([file, text]) => [file, render(file, text)]));
  const images = new Set((await listFiles(folder)).filter((file) => !file.endsWith('.md')));
  for (const [file, page] of pages) problems.push(...brokenLinks(file, page, pages, images));
  if (problems.length > 0) onProblems(problems);
  await rm(output, { recursive: true, force: true });
  for (const [file, page] of pages) {
    const target = path.join(output, htmlName(file));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, wrap(file, page, pages));
  }
  await writeFile(path.join(output, 'docs.css'), css.trimStart());
  for (const image of images) await cp(path.join(folder, image), path.join(output, image));
  return { pages: pages.size };
}

async function readPages(folder) {
  const files = (await listFiles(folder)).filter((file) => file.endsWith('.md'));
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  const pages = new Map(files.map((file, index) => [file, texts[index]]));
  pages.set('adr/index.md', decisionList(pages));
  return pages;
}

async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .sort();
}

function decisionList(pages) {
  const rows = [...pages]
    .filter(([file]) => /^adr\/\d+/.test(file))
    .map(([file, text]) => `- [${titleOf(text)}](${path.basename(file)})`);
  return `# Decisions\n\nOne page each: context, decision, alternatives refused.\n\n${rows.join('\n')}\n`;
}

const titleOf = (text) => /^#\s+(.+)$/m.exec(text)?.[1]?.trim() ?? 'Untitled';
const htmlName = (file) => file.replace(/\.md$/, '.html');

/** As GitHub makes anchors, so that links work in both places. */
export function slugOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function render(file, text) {
  const markdown = new MarkdownIt({ html: false, linkify: false });
  const tokens = markdown.parse(text, {});
  const anchors = new Set();
  const links = [];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') token.attrSet('id', uniqueAnchor(tokens[index + 1].content, anchors));
    for (const child of token.children ?? []) {
      if (child.type === 'image') links.push(child.attrGet('src'));
      if (child.type === 'link_open') {
        links.push(child.attrGet('href'));
        child.attrSet('href', asPage(child.attrGet('href')));
      }
    }
  });
  const html = markdown.renderer
    .render(tokens, markdown.options, {})
    .replaceAll('<table>', '<div class="wide"><table>')
    .replaceAll('</table>', '</table></div>');
  return { title: titleOf(text), html, anchors, links };
}

function uniqueAnchor(heading, anchors) {
  const plain = slugOf(heading.replaceAll(/[`*]/g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
  let anchor = plain;
  for (let count = 1; anchors.has(anchor); count++) anchor = `${plain}-${count}`;
  anchors.add(anchor);
  return anchor;
}

const isElsewhere = (href) => /^(?:[a-z]+:|\/\/)/i.test(href);

function asPage(href) {
  if (isElsewhere(href)) return href;
  const [target = '', anchor] = href.split('#');
  const page = target.endsWith('/') ? `${target}index.html` : target.replace(/\.md$/, '.html');
  return anchor === undefined ? page : `${page}#${anchor}`;
}

function brokenLinks(file, { links, anchors }, pages, images) {
  return links.flatMap((href) => {
    if (isElsewhere(href)) return [];
    const [target = '', anchor] = href.split('#');
    const named = target === '' ? file : path.posix.join(path.posix.dirname(file), target);
    const page = named.endsWith('/') ? `${named}index.md` : named;
    if (images.has(page)) return [];
    const found = target === '' ? { anchors } : pages.get(page);
    if (!found) return [`docs/${file} links to ${href}, which does not exist`];
    return anchor === undefined || found.anchors.has(anchor)
      ? []
      : [`docs/${file} links to ${href}: no such heading`];
  });
}

function wrap(file, { title, html }, pages) {
  const up = '../'.repeat(file.split('/').length - 1);
  const groups = navigation.map(([name, files]) => {
    const items = files
      .filter((each) => pages.has(each))
      .map((each) => {
        const isHere = each === file || (each === 'adr/index.md' && file.startsWith('adr/'));
        const current = isHere ? ' aria-current="page"' : '';
        return `<li><a href="${up}${htmlName(each)}"${current}>${escaped(pages.get(each).title)}</a></li>`;
      });
    return `${name === '' ? '' : `<h2>${name}</h2>`}<ul>${items.join('')}</ul>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – AgentCanvas</title>
<link rel="stylesheet" href="${up}docs.css">
</head>
<body>
<nav aria-label="Documentation"><a class="skip" href="#text">Skip to the text</a><a href="${up}../">Back to the app</a>${groups.join('')}</nav>
<main id="text">
${html}</main>
</body>
</html>
`;
}

function escaped(text) {
  return text.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    const { pages } = await buildDocs();
    console.log(`${pages} pages in dist/docs`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
