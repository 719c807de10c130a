import Glibc
import TransferTestSupport

/// A blocking socket that listens on a free port of the loopback interface. Its owner closes it.
struct LoopbackListener {
    let descriptor: Int32
    let port: UInt16

    init(backlog: Int32) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && listen(socket, backlog) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isListening else {
            close(socket)
            throw TestSupportError("listen: \(errno)")
        }
        descriptor = socket
        port = UInt16(bigEndian: address.sin_port)
    }
}
