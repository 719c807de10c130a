import TransferCore

extension Schedule.Window {
    /// The fault of a window's text, in words.
    package struct Refusal: Error {
        package var message: String
    }

    package static let advice = "write \"22:00-06:00\" or \"Mon-Fri 22:00-06:00\""

    /// Parses a text such as `22:00-06:00`, `Mon-Fri 22:00-06:00` or `Sat,Sun`.
    package init(_ text: String) throws(Refusal) {
        let words = text.split(separator: " ")
        let hasDays = words.first?.first?.isLetter == true
        guard let first = words.first, words.count <= (hasDays ? 2 : 1) else {
            throw Refusal(message: "not a window of time; \(Self.advice)")
        }
        let weekdays = hasDays ? try Self.weekdays(first) : Set(0..<7)
        let hours = words.count == 2 ? words[1] : hasDays ? "00:00-24:00" : first
        let ends = hours.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { throw Refusal(message: "not a window of time; \(Self.advice)") }
        let (start, end) = (try Self.minutes(ends[0]), try Self.minutes(ends[1]))
        guard start < Self.minutesPerDay, let window = Self(weekdays: weekdays, start: start, end: end) else {
            throw Refusal(
                message: "the window \(Wording.quoted(hours)) is empty; \"00:00-24:00\" is the whole day")
        }
        self = window
    }

    /// The text that `init(_:)` reads.
    package var text: String {
        let hours = "\(Self.clock(start))-\(Self.clock(end))"
        return weekdays.count == 7 ? hours : "\(Self.text(of: weekdays)) \(hours)"
    }

    private static let names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let fullNames = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    package static func clock(_ minutes: Int) -> String {
        let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
    }

    private static func minutes(_ text: Substring) throws(Refusal) -> Int {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.count <= 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard parts.count == 2, areDigits, parts[1].utf8.count == 2, let hour = Int(parts[0]),
            let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= minutesPerDay
        else {
            throw Refusal(message: "\(Wording.quoted(text)) is no time of day; 00:00 to 24:00 are possible")
        }
        return hour * 60 + minute
    }

    /// Parses days such as `Mon-Fri`, `Sat,Sun` or `Fri-Mon`.
    private static func weekdays(_ text: Substring) throws(Refusal) -> Set<Int> {
        var result: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard let first = ends.first, let last = ends.last, ends.count <= 2 else {
                throw Refusal(message: "not a window of time; \(advice)")
            }
            let (from, to) = (try weekday(first), try weekday(last))
            result.formUnion((0...(to - from + 7) % 7).map { (from + $0) % 7 })
        }
        return result
    }

    private static func weekday(_ text: Substring) throws(Refusal) -> Int {
        let lower = text.lowercased()
        if lower.utf8.count >= 3, let index = fullNames.firstIndex(where: { $0.hasPrefix(lower) }) { return index }
        let nearest = NearestKey.suggestion(for: String(text), among: names).map { "did you mean \"\($0)\"?" }
        throw Refusal(
            message: "unknown day \(Wording.quoted(text)); \(nearest ?? "\(Wording.alternatives(names)) are possible")")
    }

    /// Returns the days as text, with consecutive days as a range.
    private static func text(of weekdays: Set<Int>) -> String {
        var parts: [String] = []
        var day = 0
        while day < 7 {
            defer { day += 1 }
            guard weekdays.contains(day) else { continue }
            let first = day
            while weekdays.contains(day + 1) { day += 1 }
            parts.append(first == day ? names[day] : "\(names[first])-\(names[day])")
        }
        return parts.joined(separator: ",")
    }
}
