internal import Glibc

/// Ports on 127.0.0.1.
public enum LoopbackPort {
    /// A port that was free a moment ago. Another process may take it, so its user tries again with another.
    public static func free() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestSupportError.system("socket", errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0 ? 0 : errno
            }
        }
        guard code == 0 else { throw TestSupportError.system("bind", code) }
        return UInt16(bigEndian: address.sin_port)
    }
}
