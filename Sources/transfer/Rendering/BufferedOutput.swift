import Glibc
import TransferCore

/// A buffer of bytes for a descriptor, written in larger pieces, so that its caller is not blocked.
///
/// A reader that has closed the pipe ends the writing for good. A slow reader is waited for only once the buffer is
/// large.
struct BufferedOutput: ~Copyable {
    /// The bytes that are written as one piece without regard to time.
    static let pieceSize = 64 << 10
    /// The bytes beyond which the writer waits for the reader: events must neither be lost nor fill the memory.
    static let mostBuffered = 8 << 20
    /// The interval in milliseconds between two pieces, unless a batch's end or their size shortens it.
    static let interval: Int64 = 200

    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// The bytes that can be written without blocking once poll(2) reports room; a regular file takes any number.
    private let stride: Int
    private(set) var bytes: [UInt8] = []
    private var nextPiece = pieceSize
    private var lastFlush: Int64 = 0
    /// The `errno` that ended the writing: EPIPE for a closed pipe.
    private(set) var failure: Int32?

    init(descriptor: Int32, ownsDescriptor: Bool = false) {
        self.descriptor = descriptor
        self.ownsDescriptor = ownsDescriptor
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        // pipe(7): a write of at most PIPE_BUF bytes does not block when poll(2) reported room.
        stride = isFile ? Int.max : 4096
    }

    /// Opens a file to append to.
    init(appendingTo path: String) throws(TransferError) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            let number = errno
            throw TransferError(
                .fileAccess, "cannot write the report \(path): \(Self.reason(number))",
                cause: .os(errno: number))
        }
        self.init(descriptor: descriptor, ownsDescriptor: true)
    }

    deinit { if ownsDescriptor { close(descriptor) } }

    mutating func append(_ fill: (inout [UInt8]) -> Void) {
        guard failure == nil else { return }
        fill(&bytes)
    }

    mutating func append(_ text: String) { append { $0.append(contentsOf: text.utf8) } }

    /// Writes the due bytes.
    ///
    /// - Parameters:
    ///   - time: The time in milliseconds; two pieces are an ``interval`` apart unless `now` or the buffer is large.
    ///   - areWaitsCancelled: A closure that returns whether a slow reader is no longer waited for, as the process is
    ///     ending.
    mutating func flushIfDue(time: Int64, now: Bool, areWaitsCancelled: () -> Bool) {
        guard !bytes.isEmpty else { return }
        guard now || bytes.count >= nextPiece || abs(time - lastFlush) >= Self.interval else { return }
        lastFlush = time
        flush(patience: 0)
        while bytes.count > Self.mostBuffered, !areWaitsCancelled() { flush(patience: 100) }
        nextPiece = bytes.count + Self.pieceSize
    }

    /// Writes until the buffer is empty or the reader takes nothing for `patience` milliseconds.
    mutating func flush(patience: Int32) {
        var sent = 0
        while failure == nil, sent < bytes.count, isReady(patience) {
            let count = bytes.withUnsafeBytes { all in
                write(descriptor, all.baseAddress! + sent, min(stride, all.count - sent))
            }
            if count >= 0 {
                sent += count
            } else if errno != EINTR && errno != EAGAIN {
                failure = errno
            }
        }
        if failure != nil {
            bytes = []
        } else if sent == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 4 * Self.pieceSize)
        } else {
            bytes.removeFirst(sent)
        }
    }

    static func reason(_ number: Int32) -> String { String(cString: strerror(number)).lowercasedFirst }

    private func isReady(_ patience: Int32) -> Bool {
        guard stride != .max else { return true }
        var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let count = poll(&poller, 1, patience)
            // An error or a hang-up counts as ready too: the write will report it.
            if count >= 0 || errno != EINTR { return count != 0 }
        }
    }
}
