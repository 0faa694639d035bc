// What a watched recording can become: a video, a table of its steps, a folder of frames (by command).
import { Download } from 'lucide-react';
import { useRef, useState } from 'react';
import { shellLine } from '#contract/command-line.ts';
import { useStudio } from '../../store/use-studio.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { copyText } from '../../ui/copy-button.tsx';
import { ErrorCallout } from '../../ui/error-callout.tsx';
import { formatCount } from '../../ui/format.ts';
import { useAction } from '../../ui/use-request.ts';
import { download, downloadBlob } from '../../ui/download.ts';
import type { Side } from './player.tsx';
import { pictureAt } from './streams.ts';
import { makeVideo, videoType, type VideoTrack } from './video-export.ts';

export interface ExportMenuProps {
  readonly sides: readonly Side[];
  readonly speed: number;
}

export function useReplayExport({ sides, speed }: ExportMenuProps) {
  const { client } = useStudio();
  const action = useAction();
  const [progress, setProgress] = useState<{ readonly done: number; readonly of: number } | null>(null);
  const [note, setNote] = useState('');
  const controller = useRef<AbortController | null>(null);
  const first = sides[0];
  const video = (): void =>
    action.run(async () => {
      const abort = new AbortController();
      controller.current = abort;
      setNote('');
      setProgress({ done: 0, of: 1 });
      try {
        const blob = await makeVideo({
          tracks: sides.map(trackOf),
          speed,
          signal: abort.signal,
          onProgress: (done, of) => setProgress({ done, of }),
        });
        const extension = blob.type === 'video/mp4' ? 'mp4' : 'webm';
        downloadBlob(
          blob,
          `${sides.map(({ opened }) => `${opened.runId}_${opened.key}`).join('_and_')}.${extension}`,
        );
        setNote(`The video was saved at ${speed}×.`);
      } finally {
        controller.current = null;
        setProgress(null);
      }
    });
  const table = (): void =>
    action.run(async () => {
      if (first?.recording.place) download(await client.request('replay.csv', first.recording.place));
    });
  const command = (): void => {
    if (!first) return;
    const words = [
      'agentcanvas',
      'replay',
      first.opened.runId,
      String(first.opened.ordinal),
      '--export',
      'FOLDER',
    ];
    void copyText(shellLine(words)).then((isCopied) =>
      setNote(isCopied ? 'The command was copied.' : 'The clipboard is not available.'),
    );
  };
  const menu = (
    <ActionMenu
      label="Export"
      trigger={
        <>
          <Download size={14} aria-hidden="true" /> Export
        </>
      }
      groups={[
        [
          {
            label: `Video at ${speed}×${sides.length > 1 ? ', both episodes' : ''}`,
            run: video,
            isDisabled: progress !== null || videoType() === null,
          },
          { label: 'Steps as CSV', run: table },
          { label: 'Copy the command for frames and log', run: command },
        ],
      ]}
    />
  );
  const strip =
    progress !== null || action.error || note !== '' ? (
      <div className="export-strip">
        {progress ? (
          <output className="row">
            <progress value={progress.done} max={progress.of} aria-label="Video" />
            <span className="small figures">
              Recording the video, step {formatCount(progress.done)} of {formatCount(progress.of)}
            </span>
            <button type="button" className="button small-button" onClick={() => controller.current?.abort()}>
              Cancel
            </button>
          </output>
        ) : action.error ? (
          <ErrorCallout title="The export failed." error={action.error} />
        ) : (
          <output className="small muted">{note}</output>
        )}
      </div>
    ) : null;
  return { menu, strip };
}

/** Steps are read page by page while they are drawn. */
function trackOf({ recording, opened, stream }: Side): VideoTrack {
  const size = opened.streams[stream];
  return {
    title: `${opened.graphName}, episode ${opened.episodeId ?? opened.ordinal}${opened.status ? `, ${opened.status}` : ''}`,
    width: size?.width ?? 320,
    height: size?.height ?? 240,
    isDepth: size?.isDepth ?? false,
    lastStep: recording.lastStep,
    async frameAt(step) {
      await loaded(recording, step);
      const action = recording.steps.get(step)?.action;
      const picture = pictureAt((at) => recording.steps.get(at), step, stream);
      return {
        address: picture?.asset.address ?? null,
        words: `step ${step} of ${recording.lastStep}${action ? `, action ${action}` : ''}`,
      };
    },
  };
}

const longestWaitMs = 10_000;

function loaded({ steps }: Side['recording'], step: number): Promise<void> {
  if (steps.get(step)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const end = steps.subscribe(() => {
      if (!steps.get(step) && !steps.error) return;
      clearTimeout(timer);
      end();
      if (steps.error) reject(steps.error);
      else resolve();
    });
    const timer = setTimeout(() => {
      end();
      reject(new Error(`Step ${step} was not read in time.`));
    }, longestWaitMs);
    steps.show(step, step);
  });
}
