// One open graph: its bar, the list of nodes, the drawing, what is selected, and what is wrong with it.
import '@xyflow/react/dist/base.css';
import { ReactFlowProvider } from '@xyflow/react';
import { Columns3, Maximize, Redo2, Search, Undo2, Workflow, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { NodeManifest } from '#contract/nodeset.ts';
import { useCommand, useStudio } from '../../store/use-studio.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { ErrorCallout, Warning } from '../../ui/error-callout.tsx';
import { Tip } from '../../ui/tip.tsx';
import { isDirty, type Editor } from '../../canvas-model/editor.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { CanvasProvider, useCanvas, useEditorState, usePlay } from './canvas-context.tsx';
import { DifferenceDialog } from './difference-dialog.tsx';
import { EnvPanel } from './env-panel.tsx';
import { FindBar } from './find-bar.tsx';
import { FlowCanvas } from './flow-canvas.tsx';
import { Inspector } from './inspector.tsx';
import { PalettePanel } from './palette-panel.tsx';
import { PlayBar } from './play-bar.tsx';
import { PlayFeed } from './play-feed.ts';
import { SaveDialog } from './save-dialog.tsx';
import { useCanvasCommands } from './use-canvas-commands.ts';
import { useDraftKeeper } from './use-draft-keeper.ts';
import { useLevelInAddress } from './use-level-in-address.ts';
import { usePlayControls } from './use-play.ts';
import { useSave, type Saving } from './use-save.ts';
import { useValidation } from './use-validation.ts';
import { ValidationStrip } from './validation-strip.tsx';

export interface GraphEditorProps {
  readonly editor: Editor;
  readonly types: ReadonlyMap<string, NodeManifest>;
  /** Said once: unsaved work was taken up again. */
  readonly recovered: string | null;
}

export function GraphEditor({ editor, types, recovered }: GraphEditorProps) {
  const { client } = useStudio();
  const [play] = useState(() => new PlayFeed(client));
  useEffect(() => play.start(), [play]);
  return (
    <CanvasProvider parts={{ editor, types, play, isReadOnly: false }}>
      <ReactFlowProvider>
        <EditorBody recovered={recovered} feed={play} />
      </ReactFlowProvider>
    </CanvasProvider>
  );
}

interface EditorBodyProps {
  readonly recovered: string | null;
  readonly feed: PlayFeed;
}

function EditorBody({ recovered, feed }: EditorBodyProps) {
  const { editor } = useCanvas();
  const saving = useSave();
  const isDraftKept = useDraftKeeper();
  const validation = useValidation();
  const controls = usePlayControls(feed, validation);
  useLevelInAddress();
  const [overlay, setOverlay] = useState<'none' | 'find' | 'differences'>('none');
  const [notice, setNotice] = useState(recovered);
  const [isWide, setWide] = useState(false);
  useCommand('canvas.panels', () => setWide(!isWide));
  const commands = useCanvasCommands(saving, () => setOverlay('find'));
  const saved = useEditorState((state) => state.saved);
  const isConflict = saving.action.error?.code === 'conflict';
  return (
    <div className="canvas">
      <EditorHead
        saving={saving}
        onFind={() => setOverlay('find')}
        onDifferences={() => setOverlay('differences')}
        onLayOut={commands.layOut}
        isWide={isWide}
        onWide={() => setWide(!isWide)}
      />
      <PlayBar controls={controls} />
      {notice ? (
        <div className="callout warn canvas-notice">
          <div className="body">{notice}</div>
          <button type="button" className="button" onClick={() => (editor.undo(), setNotice(null))}>
            Discard them
          </button>
          <button type="button" className="button" onClick={() => setNotice(null)}>
            Keep
          </button>
        </div>
      ) : null}
      {isDraftKept ? null : (
        <Warning>
          This browser’s store is full: unsaved changes do not survive this window. Save soon.
        </Warning>
      )}
      {saving.action.error && saving.asks === null ? (
        <ErrorCallout title="The graph was not saved." error={saving.action.error}>
          {isConflict ? (
            <>
              <button
                type="button"
                className="button"
                onClick={() => saving.ask('Your version becomes a file of its own.')}
              >
                Save a copy
              </button>
              <button type="button" className="button danger" onClick={saving.overwrite}>
                Overwrite the file
              </button>
            </>
          ) : null}
        </ErrorCallout>
      ) : null}
      <div className={isWide ? 'canvas-body wide' : 'canvas-body'}>
        {isWide ? null : <PalettePanel />}
        <div className="canvas-middle">
          <FlowCanvas />
          <Refusal />
          {overlay === 'find' ? <FindBar onClose={() => setOverlay('none')} /> : null}
          <ValidationStrip validation={validation} />
        </div>
        {isWide ? null : <Sidebar controls={controls} />}
      </div>
      {overlay === 'differences' ? <DifferenceDialog onClose={() => setOverlay('none')} /> : null}
      {saving.asks !== null ? (
        <SaveDialog
          suggestion={saved.ref === null ? editor.root.name || 'my_graph' : `${saved.name} copy`}
          reason={saving.asks}
          saving={saving.action}
          onSave={saving.saveCopy}
          onClose={saving.cancel}
        />
      ) : null}
    </div>
  );
}

interface EditorHeadProps {
  readonly saving: Saving;
  readonly onFind: () => void;
  readonly onDifferences: () => void;
  readonly onLayOut: () => void;
  readonly isWide: boolean;
  readonly onWide: () => void;
}

function EditorHead({ saving, onFind, onDifferences, onLayOut, isWide, onWide }: EditorHeadProps) {
  const { editor } = useCanvas();
  const { navigation } = useStudio();
  const saved = useEditorState((state) => state.saved);
  const dirty = useEditorState(isDirty);
  const past = useEditorState((state) => state.history.past);
  const future = useEditorState((state) => state.history.future);
  return (
    <header className="page-head canvas-head">
      <div className="title grow">
        <Breadcrumbs>{saved.isLibrary ? <span className="chip">ships with the app</span> : null}</Breadcrumbs>
      </div>
      <span className="small muted dirty-mark">{dirty || saved.ref === null ? '● Not saved' : 'Saved'}</span>
      <Tip text={past.length > 0 ? `Undo: ${past.at(-1)?.label ?? ''}` : 'Undo'} command="canvas.undo">
        <button
          type="button"
          className="button icon"
          aria-label="Undo"
          disabled={past.length === 0}
          onClick={() => editor.undo()}
        >
          <Undo2 size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip text={future.length > 0 ? `Redo: ${future[0]?.label ?? ''}` : 'Redo'} command="canvas.redo">
        <button
          type="button"
          className="button icon"
          aria-label="Redo"
          disabled={future.length === 0}
          onClick={() => editor.redo()}
        >
          <Redo2 size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip text="Find in the graph" command="canvas.find">
        <button type="button" className="button icon" aria-label="Find in the graph" onClick={onFind}>
          <Search size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip text="Lay the graph out" command="canvas.layout">
        <button type="button" className="button icon" aria-label="Lay the graph out" onClick={onLayOut}>
          <Workflow size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip text="Show the whole graph" command="canvas.fit">
        <button
          type="button"
          className="button icon"
          aria-label="Show the whole graph"
          onClick={() => editor.reveal([])}
        >
          <Maximize size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip text={isWide ? 'Show the panels' : 'Hide the panels'} command="canvas.panels">
        <button
          type="button"
          className="button icon"
          aria-label="Hide the panels"
          aria-pressed={isWide}
          onClick={onWide}
        >
          <Columns3 size={14} aria-hidden="true" />
        </button>
      </Tip>
      <Tip text="Save the graph" command="canvas.save">
        <button
          type="button"
          className="button"
          disabled={saving.action.isBusy || saving.isReadOnly || (!dirty && saved.ref !== null)}
          onClick={saving.save}
        >
          Save
        </button>
      </Tip>
      <ActionMenu
        label="More about this graph"
        groups={[
          [
            {
              label: 'Save a copy',
              run: () => saving.ask('A new file in the workspace.'),
              isDisabled: saving.isReadOnly,
            },
            { label: 'Show changes', run: onDifferences, isDisabled: !dirty },
          ],
          [
            {
              label: 'Evaluate this graph',
              run: () => navigation.go({ page: 'evaluate', graph: saved.ref }),
              isDisabled: saved.ref === null || dirty,
            },
            { label: 'All graphs', run: () => navigation.go({ page: 'canvas' }) },
          ],
        ]}
      />
    </header>
  );
}

function Refusal() {
  const { editor } = useCanvas();
  const refusal = useEditorState((state) => state.refusal);
  if (refusal === null) return null;
  return (
    <div className="refusal callout warn" role="alert">
      <div className="body">{refusal}</div>
      <button
        type="button"
        className="button plain icon"
        aria-label="Dismiss"
        onClick={() => editor.refuse(null)}
      >
        <X size={13} aria-hidden="true" />
      </button>
    </div>
  );
}

function Sidebar({ controls }: { readonly controls: ReturnType<typeof usePlayControls> }) {
  const [tab, setTab] = useState<'selection' | 'environment'>('selection');
  const hasPanels = usePlay((state) => (state.view?.panels.length ?? 0) > 0);
  const tabs = [
    { id: 'selection', label: 'Selection' },
    { id: 'environment', label: 'Environment' },
  ] as const;
  return (
    <aside className="canvas-side" aria-label="Details">
      <div className="tabs" role="tablist" aria-label="Details">
        {tabs.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`canvas-tab-${id}`}
            aria-selected={tab === id}
            aria-controls="canvas-tab-panel"
            className="tab"
            data-active={tab === id ? '' : undefined}
            onClick={() => setTab(id)}
          >
            {label}
            {id === 'environment' && hasPanels ? <span className="loaded-dot" aria-label="loaded" /> : null}
          </button>
        ))}
      </div>
      <div
        className="canvas-side-body"
        role="tabpanel"
        id="canvas-tab-panel"
        aria-labelledby={`canvas-tab-${tab}`}
      >
        {tab === 'selection' ? <Inspector /> : <EnvPanel controls={controls} />}
      </div>
    </aside>
  );
}
