// What a Python nodeset asks to be installed: a PEP 723 block of its file, or `uv:` in its server_python. Only the two
// members that name packages are read; everything else in the block belongs to other tools.
import { StudioError } from '../../base/errors.ts';

export interface EnvironmentSpec {
  /** Requirement specifiers as stated, order and all. */
  readonly requirements: readonly string[];
  /** Version specifier such as `>=3.9,<3.13`; empty = any. */
  readonly requiresPython: string;
}

/** `uv:numpy==1.26 gymnasium>=1.0`: specifiers divided by spaces; one with spaces in it is quoted. */
export function specFromText(text: string): EnvironmentSpec {
  const parts = text.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const requirements = parts.map((part) => part.replace(/^(["'])(.*)\1$/, '$2').trim()).filter(Boolean);
  return checked({ requirements, requiresPython: '' }, `"uv:${text}"`);
}

/** The TOML text of a PEP 723 block. Throws `nodeset_failed` that names the line. */
export function specFromScript(toml: string): EnvironmentSpec {
  const reader = new BlockReader(toml);
  return checked(reader.spec(), 'the "# /// script" block');
}

interface NamedRequirement {
  readonly name: string;
  /** Version specifier; empty = any. */
  readonly versions: string;
}

/** `name[extra]>=1.0`; undefined for addresses and conditions, which only an installer can judge. */
export function namedRequirement(requirement: string): NamedRequirement | undefined {
  const match = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*((?:[<>=!~][^;@]*)?)$/.exec(
    requirement.trim(),
  );
  return match ? { name: match[1] ?? '', versions: (match[2] ?? '').trim() } : undefined;
}

/** An option would run code of its own choosing; a requirement never begins with a dash. */
function checked(spec: EnvironmentSpec, where: string): EnvironmentSpec {
  const bad = spec.requirements.find((requirement) => /^-|[\n\r\0]/.test(requirement));
  if (bad === undefined) return spec;
  throw new StudioError(
    'nodeset_failed',
    `${where} lists "${bad.slice(0, 80)}", which is no requirement; write package names with versions, for example numpy>=1.26`,
  );
}

const plainString = /^"((?:[^"\\]|\\.)*)"|^'([^']*)'/;
const key = /^([A-Za-z0-9_-]+)[ \t]*=[ \t]*/;

/** `requires-python = "…"` and `dependencies = ["…", …]` at the top level of a TOML text. */
class BlockReader {
  #rest: string;
  readonly #whole: string;

  constructor(toml: string) {
    this.#whole = toml.replaceAll('\r\n', '\n');
    this.#rest = this.#whole;
  }

  spec(): EnvironmentSpec {
    let requirements: readonly string[] = [];
    let requiresPython = '';
    for (this.#skipBlank(); this.#rest !== '' && !this.#rest.startsWith('['); this.#skipBlank()) {
      const name = key.exec(this.#rest)?.[1];
      if (name === undefined) throw this.#problem('a line `name = value`');
      this.#rest = this.#rest.replace(key, '');
      if (name === 'dependencies') requirements = this.#strings();
      else if (name === 'requires-python') requiresPython = this.#string();
      else this.#skipLine();
    }
    return { requirements, requiresPython };
  }

  #strings(): readonly string[] {
    const found: string[] = [];
    if (!this.#rest.startsWith('[')) throw this.#problem('a list in brackets');
    this.#rest = this.#rest.slice(1);
    for (this.#skipBlank(); !this.#rest.startsWith(']'); this.#skipBlank()) {
      found.push(this.#string());
      this.#skipBlank();
      if (this.#rest.startsWith(',')) this.#rest = this.#rest.slice(1);
      else if (!this.#rest.startsWith(']')) throw this.#problem('a comma or the end of the list');
    }
    this.#rest = this.#rest.slice(1);
    return found;
  }

  #string(): string {
    const match = plainString.exec(this.#rest);
    if (!match) throw this.#problem('a text in quotes');
    this.#rest = this.#rest.slice(match[0].length);
    return match[2] ?? unescaped(match[1] ?? '');
  }

  #skipBlank(): void {
    this.#rest = this.#rest.replace(/^(?:\s+|#[^\n]*)+/, '');
  }

  #skipLine(): void {
    const end = this.#rest.indexOf('\n');
    this.#rest = end < 0 ? '' : this.#rest.slice(end);
  }

  #problem(expected: string): StudioError {
    const line = this.#whole.slice(0, this.#whole.length - this.#rest.length).split('\n').length;
    const got = (this.#rest.split('\n')[0] ?? '').slice(0, 40) || 'the end';
    return new StudioError(
      'nodeset_failed',
      `line ${line} of the "# /// script" block: expected ${expected}, found: ${got}`,
    );
  }
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_all, character: string) =>
    character === 'n' ? '\n' : character === 't' ? '\t' : character,
  );
}
