import TransferCore

/// A host as certificates name it: an address, or a name in ASCII without the root's dot.
enum HostName: Equatable {
    case address(IPAddress)
    case name(String)

    /// - Parameter host: As in a URL, in brackets or not.
    /// - Returns: `nil` for what no certificate can name.
    init?(_ host: String) {
        var text = Substring(host)
        if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
        if let address = IPAddress(text) {
            self = .address(address)
            return
        }
        if text.hasSuffix(".") { text = text.dropLast() }
        var labels: [String] = []
        for label in text.lowercased().split(separator: ".", omittingEmptySubsequences: false) {
            // RFC 5890 §2.3.2.1: a label that isn't ASCII is compared in its encoded form.
            let isASCII = label.utf8.allSatisfy { $0 < 128 }
            guard !label.isEmpty, let ascii = isASCII ? String(label) : Punycode.encode(label).map({ "xn--" + $0 }),
                ascii.utf8.count <= 63, ascii.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "*") })
            else { return nil }
            labels.append(ascii)
        }
        self = .name(labels.joined(separator: "."))
    }
}

/// RFC 3492's encoding of a label.
enum Punycode {
    private static let (base, tMin, tMax, skew, damp): (Int, Int, Int, Int, Int) = (36, 1, 26, 38, 700)

    static func encode(_ label: some StringProtocol) -> String? {
        let points = label.unicodeScalars.map { Int($0.value) }
        var output = points.filter { $0 < 128 }.compactMap { UnicodeScalar($0) }.map { Character($0) }
        let basic = output.count
        var handled = basic
        if basic > 0 { output.append("-") }
        var (n, delta, bias) = (128, 0, 72)
        while handled < points.count {
            guard let next = points.filter({ $0 >= n }).min() else { return nil }
            let (step, overflow) = (next - n).multipliedReportingOverflow(by: handled + 1)
            guard !overflow else { return nil }
            delta += step
            n = next
            for point in points {
                if point < n { delta += 1 }
                guard point == n else { continue }
                var (q, k) = (delta, base)
                while true {
                    let t = min(max(k - bias, tMin), tMax)
                    if q < t { break }
                    output.append(digit(t + (q - t) % (base - t)))
                    q = (q - t) / (base - t)
                    k += base
                }
                output.append(digit(q))
                bias = adapt(delta, handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            n += 1
        }
        return String(output)
    }

    private static func digit(_ value: Int) -> Character {
        Character(UnicodeScalar(UInt8(value < 26 ? 97 + value : 22 + value)))
    }

    private static func adapt(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var k = 0
        while delta > (base - tMin) * tMax / 2 {
            delta /= base - tMin
            k += base
        }
        return k + (base - tMin + 1) * delta / (delta + skew)
    }
}
