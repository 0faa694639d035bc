// Hands a file to the browser to save.
const keepUrlMs = 60_000;

export function downloadBlob(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser reads the address after the click returns.
  setTimeout(() => URL.revokeObjectURL(url), keepUrlMs);
}

/** A file as requests give it. */
export interface ExportedFile {
  readonly fileName: string;
  readonly mimeType: string;
  readonly content: string;
}

export function download({ fileName, mimeType, content }: ExportedFile): void {
  downloadBlob(new Blob([content], { type: mimeType }), fileName);
}
