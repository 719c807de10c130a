import Glibc
import Synchronization
import TransferQueue

/// The results that clients of aria2's interface have put away: they aren't told any more, and the queue keeps them.
final class AriaView: Sendable {
    struct State: Sendable, Equatable {
        /// Ends up to this one are put away.
        var purged: Int64 = 0
        /// The numbers of jobs that are put away one by one.
        var removed: Set<Int64> = []
    }

    private let state: Mutex<State>
    private let path: String?

    /// - Parameter folder: Where the mark is kept; `nil` keeps it until the service ends.
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

    /// The mark, and the numbers behind it, with spaces between.
    private static func read(_ path: String) -> State? {
        guard let words = SecretSource.text(of: path)?.split(whereSeparator: \.isWhitespace),
            let purged = words.first.flatMap({ Int64($0) })
        else { return nil }
        return State(purged: purged, removed: Set(words.dropFirst().compactMap { Int64($0) }))
    }

    /// A mark that is lost shows results again: nothing more depends on it.
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
