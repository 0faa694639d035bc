// Code nobody trusts yet: what would run, and two deliberate ways to allow it. The content is trusted as it was looked
// at: whatever is there when the button is pressed, something else asks again.
import type { ErrorInfo } from '#contract/error.ts';
import { useStudio } from '../store/use-studio.tsx';
import { Tip } from './tip.tsx';
import { useAction } from './use-request.ts';

export interface TrustButtonsProps {
  readonly error: Pick<ErrorInfo, 'code' | 'details'>;
  readonly onTrusted: () => void;
}

export function TrustButtons({ error, onTrusted }: TrustButtonsProps) {
  const { client } = useStudio();
  const trusting = useAction();
  const { folder, wouldRun } = error.details;
  if (error.code !== 'untrusted' || typeof folder !== 'string') return null;
  const content = contentOf(error.details['content']);
  const trustFolder = (): void =>
    trusting.run(async () => {
      await client.request('trust.add', { folder });
      onTrusted();
    });
  const trustContent = (path: string, hash: string): void =>
    trusting.run(async () => {
      await client.request('trust.addContent', { path, hash });
      onTrusted();
    });
  return (
    <div className="stack">
      {Array.isArray(wouldRun) && wouldRun.length > 0 ? (
        <div>
          <span className="muted">Would run:</span>
          <ul className="small mono would-run">
            {wouldRun.map((command) => (
              <li key={String(command)}>{String(command)}</li>
            ))}
          </ul>
        </div>
      ) : null}
      <div className="row wrap">
        {content.hash ? (
          <Tip text={`Runs as long as what would run of ${content.path} stays as it is; an edit asks again`}>
            <button
              type="button"
              className="button"
              disabled={trusting.isBusy}
              onClick={() => trustContent(content.path, content.hash ?? '')}
            >
              Trust this content only
            </button>
          </Tip>
        ) : null}
        <Tip text="Everything in it, now and later">
          <button type="button" className="button" disabled={trusting.isBusy} onClick={trustFolder}>
            Trust {folder}
          </button>
        </Tip>
      </div>
      {content.problem ? (
        <p className="small muted">
          It cannot be trusted by its content: {content.problem}. Only the folder can be trusted.
        </p>
      ) : null}
      {trusting.error ? <span className="problem">{trusting.error.message}</span> : null}
    </div>
  );
}

interface OfferedContent {
  readonly path: string;
  readonly hash?: string | undefined;
  readonly problem?: string | undefined;
}

function contentOf(value: unknown): OfferedContent {
  const text = (name: string): string | undefined => {
    const found: unknown = Object.getOwnPropertyDescriptor(Object(value), name)?.value;
    return typeof found === 'string' ? found : undefined;
  };
  return { path: text('path') ?? '', hash: text('hash'), problem: text('problem') };
}
