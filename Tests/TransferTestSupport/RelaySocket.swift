internal import Glibc

/// Blocking reads and writes of relays, which pass whole pieces.
enum RelaySocket {
    /// - Returns: The bytes of one read; `nil` at the end.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// - Returns: Whether all bytes were written.
    static func write(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        var left = bytes[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            left = left.dropFirst(count)
        }
        return true
    }
}
