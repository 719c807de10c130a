internal import Glibc

/// A listener that accepts connections on a free loopback port, and never reads from them.
public final class SilentListener: Sendable {
    public let port: UInt16
    public var url: String { "http://127.0.0.1:\(port)" }
    private let descriptor: Int32

    public init() throws { (descriptor, port) = try LoopbackPort.listening() }

    deinit { close(descriptor) }
}
