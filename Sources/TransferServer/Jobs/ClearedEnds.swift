import TransferQueue

/// The ends of jobs that clients have cleared from their lists. The jobs stay in the queue.
///
/// An end is known by its cursor. A cleared job that is tried again and ends again is therefore listed again.
struct ClearedEnds: Sendable {
    private let view: AriaView

    /// Creates the record.
    ///
    /// - Parameters:
    ///   - folder: The folder of the state file; `nil` keeps the record only until the service ends.
    ///   - queue: The address of a shared queue, as its cursors mean nothing in another one.
    init(folder: String?, queue: String? = nil) {
        view = AriaView(folder: folder, queue: queue, name: "serve.cleared")
    }

    var isEmpty: Bool { view.current == AriaView.State() }

    /// Returns whether lists contain the job.
    func shows(_ entry: JobEntry) -> Bool { shows([entry]).isEmpty == false }

    /// Returns the jobs that lists contain.
    func shows(_ entries: [JobEntry]) -> [JobEntry] {
        let state = view.current
        return entries.filter { entry in
            guard entry.listed.state.hasEnded, let cursor = entry.cursor else { return true }
            return state.shows(cursor, endedAt: cursor)
        }
    }

    /// The cursor up to which all ends are cleared.
    var mark: Int64 { view.current.purged }

    /// Forgets the record, which is of another queue.
    func reset() { view.reset() }

    func clear(_ entries: [JobEntry]) {
        for cursor in entries.lazy.compactMap(\.cursor) { view.remove(cursor) }
    }

    /// Clears all ends up to a cursor.
    func clear(upTo cursor: Int64) {
        view.purge(upTo: cursor, forgetting: view.current.removed.filter { $0 <= cursor })
    }
}
