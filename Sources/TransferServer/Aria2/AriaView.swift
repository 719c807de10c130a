import Glibc
import Synchronization
import TransferCrypto
import TransferQueue

/// The results that clients of aria2's interface have purged. They are no longer reported, but stay in the queue.
final class AriaView: Sendable {
    struct State: Sendable, Equatable {
        /// The cursor of the last end that was purged, with all before it.
        var purged: Int64 = 0
        /// The numbers of the jobs that were removed individually.
        var removed: Set<Int64> = []

        init(purged: Int64 = 0, removed: Set<Int64> = []) {
            self.purged = purged
            self.removed = removed
        }

        /// Reads the text of the state file: the cursor, and then the numbers of removed jobs in their order. A negative
        /// number takes a removal back.
        ///
        /// - Returns: `nil` for another text.
        init?(text: String) {
            let words = text.split(whereSeparator: \.isWhitespace)
            guard let purged = words.first.flatMap({ Int64($0) }) else { return nil }
            self.purged = purged
            for number in words.dropFirst().lazy.compactMap({ Int64($0) }) {
                if number < 0 { removed.remove(-number) } else { removed.insert(number) }
            }
        }

        var text: String { ([purged] + removed.sorted()).map(String.init).joined(separator: "\n") + "\n" }

        func shows(_ number: Int64, endedAt cursor: Int64?) -> Bool {
            if removed.contains(number) { return false }
            return cursor.map { $0 > purged } ?? true
        }
    }

    private let state: Mutex<State>
    private let file: AriaViewFile?

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - folder: The folder of the state file; `nil` keeps the state only until the service ends.
    ///   - queue: The address of a shared queue, whose digest ends the name of the file; `nil` for one in a folder.
    ///   - name: The beginning of the name of the state file.
    init(folder: String?, queue: String? = nil, name: String = "serve.aria2") {
        let suffix = queue.map { "." + Self.digest($0) } ?? ""
        file = folder.map { AriaViewFile($0 + "/" + name + suffix) }
        state = Mutex(file?.state ?? State())
    }

    /// Returns a short digest, which is safe in the name of a file.
    private static func digest(_ queue: String) -> String {
        guard let digest = try? Digest(.sha256) else { return "shared" }
        Array(queue.utf8).withUnsafeBytes(digest.update)
        return ((try? digest.finish().description) ?? "shared").filter { $0.isLetter || $0.isNumber }.suffix(16)
            .description
    }

    /// Forgets everything: the record is of another queue.
    func reset() {
        state.withLock { state in
            state = State()
            file?.write(state)
        }
    }

    var current: State { state.withLock { $0 } }

    func shows(_ entry: JobEntry) -> Bool { current.shows(entry.number, endedAt: entry.cursor) }

    /// Purges all results up to a cursor.
    ///
    /// - Parameter ended: The removed jobs that had ended before: the cursor hides them from now on.
    func purge(upTo cursor: Int64, forgetting ended: Set<Int64>) {
        state.withLock { state in
            state.purged = max(state.purged, cursor)
            state.removed.subtract(ended)
            file?.write(state)
        }
    }

    func remove(_ number: Int64) {
        state.withLock { state in
            if state.removed.insert(number).inserted { file?.append(number, of: state) }
        }
    }

    /// Shows a removed job again, because it begins anew.
    func restore(_ number: Int64) {
        state.withLock { state in
            if state.removed.remove(number) != nil { file?.append(-number, of: state) }
        }
    }
}

/// The state file of the view. A removal appends one line, so that its cost does not grow with the number of removals.
///
/// The loss of the file only makes results visible again. It is therefore synced at the end of the service alone.
private final class AriaViewFile: Sendable {
    private let path: String
    /// The descriptor to which lines are appended; -1 where the file cannot be written.
    private let descriptor: Mutex<Int32>

    init(_ path: String) {
        self.path = path
        descriptor = Mutex(-1)
        // The file is rewritten once, so that it does not grow from one service to the next.
        // A file that cannot be read is left alone until something changes.
        if let state {
            write(state)
        } else if access(path, F_OK) != 0 {
            write(AriaView.State())
        }
    }

    deinit {
        descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            fsync(descriptor)
            close(descriptor)
        }
    }

    var state: AriaView.State? { SecretSource.text(of: path).flatMap { AriaView.State(text: $0) } }

    /// Appends a number, or replaces the file where that is not possible.
    func append(_ number: Int64, of state: AriaView.State) {
        let bytes = Array("\(number)\n".utf8)
        let isWritten = descriptor.withLock { $0 >= 0 && Glibc.write($0, bytes, bytes.count) == bytes.count }
        guard !isWritten else { return }
        // Nothing is appended to half a line: the next removal replaces the file.
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
        write(state)
    }

    /// Replaces the file.
    func write(_ state: AriaView.State) {
        let beside = path + ".new"
        let file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        let bytes = Array(state.text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count, rename(beside, path) == 0 else {
            close(file)
            unlink(beside)
            return
        }
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = file
        }
    }
}
