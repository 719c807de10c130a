import Glibc
import TransferCore
import TransferEventLoop

/// A connection without TLS that libcurl has made, and on which requests and answers are ours.
///
/// `@unchecked Sendable`: used on its loop's thread only, which calls its pool when something has come.
final class PlainConnection: @unchecked Sendable {
    let place: [UInt8]
    let socket: Int32
    let localAddress: String?
    let remoteAddress: String?
    var reader = AnswerReader()
    /// Whose answer it waits for.
    var exchange: ActiveExchange?
    /// Exchanges that it has carried, however they ended.
    private(set) var served = 0
    /// What the loop tells of it; nothing while it isn't registered.
    var watched: ReadyEvents = []
    private(set) var usedLast = MonotonicTime.now
    private var request: PlainRequest?
    private var written = 0

    /// - Parameter socket: Owned from here on; not blocking.
    init(place: [UInt8], socket: Int32, localAddress: String?, remoteAddress: String?) {
        self.place = place
        self.socket = socket
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
    }

    deinit { close(socket) }

    enum Writing {
        case whole
        /// The kernel takes no more for now.
        case waits
        /// The server takes no more; it may have said why.
        case refused
    }

    func begin(_ request: PlainRequest) {
        self.request = request
        written = 0
        reader.reset()
    }

    /// Bytes of the body that the kernel has.
    var sent: Int { request.map { max(0, written - $0.headLength) } ?? 0 }

    func write() -> Writing {
        guard let request else { return .whole }
        while written < request.bytes.count {
            let count = request.bytes.withUnsafeBytes { bytes in
                // Doesn't block, as libcurl has set O_NONBLOCK, which a duplicate shares; no signal where the server is
                // gone, but EPIPE.
                send(
                    socket, bytes.baseAddress?.advanced(by: written), bytes.count - written,
                    Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno == EAGAIN ? .waits : .refused }
            written += count
        }
        return .whole
    }

    /// Its exchange is over, whole or not.
    ///
    /// - Parameter isAlone: Whether the answer is whole, and nothing came behind it.
    /// - Returns: Whether another request may be sent.
    func finish(isAlone: Bool) -> Bool {
        let hasSentAll = written == request?.bytes.count
        request = nil
        exchange = nil
        served += 1
        usedLast = .now
        return isAlone && hasSentAll && reader.isReadyForAnother
    }

    enum Reading {
        case bytes(Int)
        case nothing
        case closed
        /// errno
        case failed(Int32)
    }

    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Reading {
        while true {
            let count = recv(socket, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .nothing : .failed(errno)
        }
    }
}
