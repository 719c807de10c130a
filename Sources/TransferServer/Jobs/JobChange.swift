import HTTPTypes
import TransferQueue

/// A change of jobs that does not change their identity.
struct JobChange: Sendable {
    private var priority: Int?
    private var limitRate: Int64??

    /// Parses a patch.
    ///
    /// - Throws: A 422 for other keys, and for values out of range.
    init(_ patch: JSONValue) throws {
        for (key, value) in patch.members ?? [:] {
            switch key {
            case "priority":
                guard let number = value == .null ? 0 : value.integer, FieldRanges.priorities.contains(number) else {
                    throw Self.refusal("\"priority\" is a whole number from -1000000 to 1000000")
                }
                priority = number
            case "limitRate":
                guard let rate = value == .null ? 0 : value.integer, rate >= 0 else {
                    throw Self.refusal("\"limitRate\" is bytes a second")
                }
                limitRate = .some(rate == 0 ? nil : Int64(rate))
            default: throw Self.refusal("\(Wording.quoted(key)) of jobs cannot be changed")
            }
        }
    }

    func make(_ spec: inout JobSpec) {
        if let priority { spec.priority = priority }
        if let limitRate { spec.settings.limitRate = limitRate }
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.unprocessableContent, "badChange", detail)
    }
}
