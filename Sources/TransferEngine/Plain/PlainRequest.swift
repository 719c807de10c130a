import TransferCore

/// A request of HTTP/1.1 and its body, as they go over a connection in one piece (RFC 9112 §3).
struct PlainRequest {
    /// `http://` and what stands before the path: connections are kept by it.
    let place: [UInt8]
    let bytes: [UInt8]
    /// How many of them stand before the body.
    let headLength: Int
}

/// Makes requests that are alike but for their paths and bodies: what they share is made once.
struct PlainRequestMaker {
    fileprivate struct Model {
        let place: [UInt8]
        let method: String
        let headers: [HeaderField]
        /// From the version to the name of the last field, Content-Length.
        let fields: [UInt8]
    }

    private var model: Model?

    /// - Returns: `nil` for what libcurl would write in another way than it stands in the URL, and for fields that
    ///   are more than words to the server.
    mutating func make(_ url: String, _ method: String, _ headers: [HeaderField], body: [UInt8]) -> PlainRequest? {
        var url = url
        return url.withUTF8 { url -> PlainRequest? in
            guard let end = Self.endOfPlace(url), Self.isPlainTarget(url[end...]) else { return nil }
            if model?.isOf(url[..<end], method, headers) != true { model = Model(Array(url[..<end]), method, headers) }
            guard let model else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(method.utf8.count + url.count + model.fields.count + body.count + 32)
            bytes += method.utf8
            bytes.append(UInt8(ascii: " "))
            if end == url.count || url[end] != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
            bytes += url[end...]
            bytes += model.fields
            Self.append(body.count, to: &bytes)
            bytes += "\r\n\r\n".utf8
            let headLength = bytes.count
            bytes += body
            return PlainRequest(place: model.place, bytes: bytes, headLength: headLength)
        }
    }

    /// Of a URL that begins with `http://` in lower case, and whose host is plain.
    private static func endOfPlace(_ url: UnsafeBufferPointer<UInt8>) -> Int? {
        let scheme: StaticString = "http://"
        let count = scheme.utf8CodeUnitCount
        guard url.count > count, (0..<count).allSatisfy({ url[$0] == scheme.utf8Start[$0] }) else { return nil }
        var index = count
        while index < url.count {
            switch url[index] {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
                UInt8(ascii: "]"):
                index += 1
            case UInt8(ascii: "/"), UInt8(ascii: "?"): return index > count ? index : nil
            default: return nil
            }
        }
        return index > count ? index : nil
    }

    /// Nothing that has to be encoded, and no `/.`, which may have to be resolved.
    private static func isPlainTarget(_ target: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var last: UInt8 = 0
        for byte in target {
            guard isPlain[Int(byte)], !(byte == UInt8(ascii: ".") && last == UInt8(ascii: "/")) else { return false }
            last = byte
        }
        return true
    }

    /// What RFC 3986 has in a path or a query.
    private static let isPlain: [Bool] = (0..<256).map { byte in
        switch UInt8(byte) {
        case 0x61...0x7A, 0x41...0x5A, 0x30...0x39: true
        default: "-._~!$&'()*+,;=:@/?%".utf8.contains(UInt8(byte))
        }
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        var divisor = 1
        while number / divisor > 9 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}

extension PlainRequestMaker.Model {
    fileprivate init?(_ place: [UInt8], _ method: String, _ headers: [HeaderField]) {
        guard let origin = Origin(url: String(decoding: place, as: UTF8.self)),
            Self.isPlainHost(origin.host), method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }),
            !headers.contains(where: Self.isSpecial)
        else { return nil }
        self.place = place
        self.method = method
        self.headers = headers
        var text = " HTTP/1.1\r\nHost: \(origin.hostAndPort)\r\n"
        if headers.value("Accept") == nil { text += "Accept: */*\r\n" }
        for field in headers {
            text += field.value.isEmpty ? "\(field.name):\r\n" : "\(field.name): \(field.value)\r\n"
        }
        fields = Array("\(text)Content-Length: ".utf8)
    }

    fileprivate func isOf(
        _ place: Slice<UnsafeBufferPointer<UInt8>>, _ method: String, _ headers: [HeaderField]
    ) -> Bool {
        self.place.count == place.count && self.place.elementsEqual(place) && self.method == method
            && self.headers == headers
    }

    /// libcurl writes `127.1` as `127.0.0.1`.
    private static func isPlainHost(_ host: String) -> Bool {
        guard !host.utf8.contains(UInt8(ascii: ":")), let last = host.split(separator: ".").last?.utf8.first,
            (0x30...0x39).contains(last)
        else { return true }
        return IPAddress(host)?.bytes.map { "\($0)" }.joined(separator: ".") == host
    }

    /// Fields about the connection, the body's framing or the way; those that libcurl may have a say in (cookies, codings);
    /// blank values, which it would leave out; and such as would end a line and begin another.
    private static func isSpecial(_ field: HeaderField) -> Bool {
        let name = field.name.lowercased()
        return special.contains(name) || name.hasPrefix("proxy-") || name.isEmpty
            || !field.value.isEmpty && field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
            || (name + field.value).utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }
            || name.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: ":") || $0 >= 0x7F })
    }

    private static let special: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "expect", "te", "trailer", "upgrade",
        "http2-settings", "accept-encoding", "cookie",
    ]
}
