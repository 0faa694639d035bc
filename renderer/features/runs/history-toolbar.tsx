// Search and status filter of History; both live in the address.
import { Search } from 'lucide-react';
import { runStatus, type RunStatus } from '#contract/run.ts';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { formatWord } from '../../ui/format.ts';
import { useTypedText } from '../../ui/use-typed-text.ts';

const filterable: readonly RunStatus[] = runStatus.options.filter(
  (status) => status !== 'preparing' && status !== 'stopping',
);

export function HistoryToolbar({ columnMenu }: { readonly columnMenu: React.ReactNode }) {
  const { navigation } = useStudio();
  const { search, runStatuses } = useAddress();
  const [text, setText] = useTypedText(search, (next) => navigation.change({ search: next }));
  const toggle = (status: string): void =>
    navigation.change({
      runStatuses: runStatuses.includes(status)
        ? runStatuses.filter((other) => other !== status)
        : [...runStatuses, status],
    });
  return (
    <div className="toolbar">
      <div className="search-box">
        <Search size={14} aria-hidden="true" />
        <input
          type="search"
          className="input search"
          aria-label="Search runs"
          placeholder="Name, graph, split, tag or note"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <fieldset className="chips">
        <legend className="visually-hidden">Status</legend>
        {filterable.map((status) => (
          <button
            key={status}
            type="button"
            className="chip"
            aria-pressed={runStatuses.includes(status)}
            onClick={() => toggle(status)}
          >
            {status === 'completed_with_errors' ? 'with errors' : formatWord(status)}
          </button>
        ))}
      </fieldset>
      <span className="grow" />
      {columnMenu}
    </div>
  );
}
