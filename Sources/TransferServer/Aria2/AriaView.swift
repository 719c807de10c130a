import Glibc
import Synchronization
import TransferQueue

/// The results that clients of aria2's interface have purged. They are no longer reported, but stay in the queue.
final class AriaView: Sendable {
    struct State: Sendable, Equatable {
        /// The cursor of the last end that was purged, with all before it.
        var purged: Int64 = 0
        /// The numbers of the jobs that were removed individually.
        var removed: Set<Int64> = []
    }

    private let state: Mutex<State>
    private let path: String?

    /// Creates a view.
    ///
    /// - Parameter folder: The folder of the state file; `nil` keeps the state only until the service ends.
    init(folder: String?) {
        path = folder.map { $0 + "/serve.aria2" }
        state = Mutex(path.flatMap(Self.read) ?? State())
    }

    var current: State { state.withLock { $0 } }

    func shows(_ entry: JobEntry) -> Bool {
        let state = current
        if state.removed.contains(entry.number) { return false }
        return entry.cursor.map { $0 > state.purged } ?? true
    }

    func purge(upTo cursor: Int64) {
        change { state in
            state.purged = max(state.purged, cursor)
        }
    }

    func remove(_ number: Int64) { change { $0.removed.insert(number) } }

    private func change(_ change: (inout State) -> Void) {
        let new = state.withLock { state in
            change(&state)
            return state
        }
        if let path { Self.write(new, to: path) }
    }

    // MARK: The file

    /// Reads the state: the cursor and the job numbers, separated by spaces.
    private static func read(_ path: String) -> State? {
        guard let words = SecretSource.text(of: path)?.split(whereSeparator: \.isWhitespace),
            let purged = words.first.flatMap({ Int64($0) })
        else { return nil }
        return State(purged: purged, removed: Set(words.dropFirst().compactMap { Int64($0) }))
    }

    /// Writes the state. The loss of the file only makes results visible again.
    private static func write(_ state: State, to path: String) {
        let text = ([state.purged] + state.removed.sorted()).map(String.init).joined(separator: " ") + "\n"
        let beside = path + ".new"
        let file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(text.utf8)
        let isWritten = Glibc.write(file, bytes, bytes.count) == bytes.count
        close(file)
        if isWritten { rename(beside, path) } else { unlink(beside) }
    }
}
