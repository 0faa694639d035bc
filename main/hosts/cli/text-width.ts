// Text on a terminal: how many columns it takes, cut to fit, in one line. Characters of East Asia and emoji take two.
import { stripVTControlCharacters } from 'node:util';

const graphemes = new Intl.Segmenter();
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const invisible = /^[\p{Mark}\p{Cf}]+$/u;

function widthOfGrapheme(grapheme: string): number {
  if (invisible.test(grapheme)) return 0;
  return wide.test(grapheme) ? 2 : 1;
}

/** Columns of a terminal that a text without line breaks takes. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text)))
    width += widthOfGrapheme(segment);
  return width;
}

/** The text, or as much of it as fits with an ellipsis; never half a character. */
export function clipToWidth(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) {
    width += widthOfGrapheme(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

export function padToWidth(text: string, columns: number, side: 'start' | 'end'): string {
  const space = ' '.repeat(Math.max(0, columns - textWidth(text)));
  return side === 'start' ? space + text : text + space;
}

/** What others wrote (an error, a log line) as one line that cannot steer the terminal. */
export function oneLine(text: string): string {
  return (
    stripVTControlCharacters(text)
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' | ')
      // oxlint-disable-next-line no-control-regex -- these are what is taken out
      .replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
  );
}
