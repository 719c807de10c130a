import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

extension StoredCookie {
    /// Takes a cookie of Foundation, whose domain begins with a dot if it is meant for more than one host.
    ///
    /// - Returns: `nil` for a cookie that cannot be sent: without a name or domain, or with control characters or
    ///   semicolons.
    init?(_ cookie: HTTPCookie, created: Double) {
        let isForbidden = { (byte: UInt8) in byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: ";") }
        let isHost = !cookie.domain.hasPrefix(".")
        let domain = HostName.comparable(isHost ? cookie.domain[...] : cookie.domain.dropFirst())
        guard !cookie.name.isEmpty, !cookie.name.utf8.contains(where: { isForbidden($0) || $0 == UInt8(ascii: "=") }),
            !cookie.value.utf8.contains(where: isForbidden), !domain.isEmpty
        else { return nil }
        self.init(
            name: cookie.name, value: cookie.value, domain: domain,
            path: cookie.path.hasPrefix("/") ? cookie.path : "/",
            isHostOnly: isHost, isSecure: cookie.isSecure, isHTTPOnly: cookie.isHTTPOnly,
            // A time outside Int64's range means never.
            expires: cookie.expiresDate.map { Int64(max(-9e15, min(9e15, $0.timeIntervalSince1970))) }, created: created
        )
    }

    var foundation: HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: value, .domain: isHostOnly ? domain : ".\(domain)", .path: path,
        ]
        if let expires {
            properties[.expires] = Date(timeIntervalSince1970: TimeInterval(expires))
        } else {
            properties[.discard] = "TRUE"
        }
        if isSecure { properties[.secure] = "TRUE" }
        // Foundation reads this key but has no constant for it.
        if isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        return HTTPCookie(properties: properties)
    }
}
