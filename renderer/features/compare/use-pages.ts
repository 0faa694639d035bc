// A long list of a comparison, read page by page; a new list when the question changes.
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { PagedRows, type FetchPage } from '../../ui/paged-rows.ts';

export function usePages<Row>(question: string, fetch: FetchPage<Row>): PagedRows<Row> {
  const latest = useRef(fetch);
  useEffect(() => {
    latest.current = fetch;
  });
  const list = useMemo(() => {
    void question;
    // oxlint-disable-next-line react/refs -- read when a page is asked for, not while drawing
    return new PagedRows<Row>((offset, limit, signal) => latest.current(offset, limit, signal));
  }, [question]);
  useEffect(() => {
    list.show(0, 0);
    return () => list.dispose();
  }, [list]);
  useSyncExternalStore(list.subscribe, list.getVersion);
  return list;
}
