import Glibc

/// Addresses as text (getnameinfo(3), NI_NUMERICHOST).
enum NumericAddress {
    static func text(_ address: UnsafePointer<sockaddr>?, _ size: socklen_t) -> String? {
        guard let address else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        guard getnameinfo(address, size, &name, 64, nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        let end = name.firstIndex(of: 0) ?? name.endIndex
        return String(decoding: name[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
