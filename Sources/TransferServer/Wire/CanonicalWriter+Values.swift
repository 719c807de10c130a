import TransferQueue

// The answers' JSON.
extension CanonicalWriter {
    /// A member of an object; nothing where there is no value.
    mutating func member(_ name: String, _ value: (some CanonicalValue)?) {
        guard let value else { return }
        key(name)
        value.write(to: &self)
    }

    mutating func member(_ name: String, _ value: Int64?) { member(name, value.map(Int.init)) }

    /// A time in milliseconds since 1970, as RFC 3339 has it.
    mutating func member(_ name: String, time: Int64?) { member(name, time.map(TimeStamp.text)) }

    mutating func member(_ name: String, object: (inout CanonicalWriter) -> Void) {
        key(name)
        self.object(object)
    }

    mutating func member<Element>(
        _ name: String, objects: [Element], _ write: (inout CanonicalWriter, Element) -> Void
    ) {
        key(name)
        array(objects) { writer, element in writer.object { write(&$0, element) } }
    }

    /// One object as bytes.
    static func bytes(_ build: (inout CanonicalWriter) -> Void) -> [UInt8] {
        var writer = CanonicalWriter()
        writer.object(build)
        return writer.bytes
    }
}

/// Times of the calendar as RFC 3339 has them: in UTC, to the millisecond.
enum TimeStamp {
    /// - Parameter milliseconds: Since 1970.
    static func text(_ milliseconds: Int64) -> String {
        let day = milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
        let rest = milliseconds - day * 86_400_000
        let date = CivilDate.date(ofDay: day)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }
        return "\(padded(Int64(date.year), 4))-\(padded(Int64(date.month), 2))-\(padded(Int64(date.day), 2))"
            + "T\(clock.joined(separator: ":")).\(padded(rest % 1000, 3))Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
