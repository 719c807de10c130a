import Glibc
import TransferCore

/// The kernel's options and counts of one connection's socket (tcp(7), socket(7)).
struct SteeredSocket {
    let descriptor: Int32

    /// The name of the connection's congestion control.
    var congestion: String? {
        var bytes = [UInt8](repeating: 0, count: 16)
        var length = socklen_t(bytes.count)
        let result = bytes.withUnsafeMutableBytes {
            getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, $0.baseAddress, &length)
        }
        guard result == 0 else { return nil }
        return String(decoding: bytes.prefix(Int(length)).prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Sets the congestion control.
    ///
    /// - Returns: The `errno` where the kernel refuses.
    func setCongestion(_ name: String) -> Int32? {
        let bytes = Array(name.utf8)
        let result = bytes.withUnsafeBytes {
            setsockopt(
                descriptor, Int32(IPPROTO_TCP), TCP_CONGESTION, $0.baseAddress, socklen_t($0.count))
        }
        return result == 0 ? nil : errno
    }

    /// Sets the most bytes a second that leave; the kernel spaces the segments itself.
    func setPace(_ rate: Double) {
        var value = UInt(max(1, min(rate, 1e15)))
        _ = setsockopt(
            descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, &value, socklen_t(MemoryLayout.size(ofValue: value)))
    }

    /// Sets the most bytes that the peer may have under way: the advertised window.
    func setReceiveWindow(_ bytes: Double) {
        var value = Int32(max(1, min(bytes, 1e9)))
        _ = setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_WINDOW_CLAMP, &value, socklen_t(MemoryLayout.size(ofValue: value)))
    }

    /// The peer's address, without its port; `nil` while the connection is not made.
    var peer: String? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                getpeername(descriptor, pointer, &length) == 0 ? NumericAddress.text(pointer, length) : nil
            }
        }
    }
}
