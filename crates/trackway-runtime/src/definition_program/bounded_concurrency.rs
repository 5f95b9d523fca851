//! Futures in parallel, with a limit on how many run at once.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

/// Works on `count` items, `at_once` of them at the same time, and returns their results in the order of the
/// items. If a result `stops` the others, they are dropped, and its index is returned too.
///
/// All active futures are polled in the same order each time. A program sees recorded results one at a time
/// (decision 3). So the item that continues first, and every name that is claimed, is the same on each
/// replay.
pub(super) async fn bounded_join<T, F>(
    count: usize,
    concurrency_max: usize,
    item: impl Fn(usize) -> Pin<Box<F>>,
    stops_others: impl Fn(&T) -> bool,
) -> (Vec<Option<T>>, Option<usize>)
where
    F: Future<Output = T>,
{
    let mut results: Vec<Option<T>> = std::iter::repeat_with(|| None).take(count).collect();
    let mut waiting = 0..count;
    let mut under_way: Vec<(usize, Pin<Box<F>>)> =
        waiting.by_ref().take(concurrency_max.max(1)).map(|index| (index, item(index))).collect();
    let stopped = poll_fn(|cx| {
        let mut slot = 0;
        while let Some((index, future)) = under_way.get_mut(slot) {
            let Poll::Ready(result) = future.as_mut().poll(cx) else {
                slot += 1;
                continue;
            };
            let index = *index;
            let stop = stops_others(&result);
            results[index] = Some(result);
            if stop {
                return Poll::Ready(Some(index));
            }
            // The next item takes its slot, and its turn now.
            match waiting.next() {
                Some(next) => under_way[slot] = (next, item(next)),
                None => drop(under_way.remove(slot)),
            }
        }
        if under_way.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    })
    .await;
    (results, stopped)
}
