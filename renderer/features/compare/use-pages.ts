// A long list of a comparison, read page by page; a new list when the question changes.
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { PagedRows, type FetchPage } from '../../ui/paged-rows.ts';

export function usePages<Row>(question: string, fetch: FetchPage<Row>): PagedRows<Row> {
  // The question says all that `fetch` depends on. The table asks before this hook's effects run, so the list must hold
  // the `fetch` of its own question from the beginning.
  // oxlint-disable-next-line react/exhaustive-deps
  const list = useMemo(() => new PagedRows<Row>(fetch), [question]);
  useEffect(() => {
    list.show(0, 0);
    return () => list.dispose();
  }, [list]);
  useSyncExternalStore(list.subscribe, list.getVersion);
  return list;
}
