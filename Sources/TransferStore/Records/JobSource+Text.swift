import FoundationEssentials
import TransferJobs

extension [JobSource] {
    /// The list as a text of the database; `nil` for an empty list.
    package var text: String? {
        guard !isEmpty, let data = try? JSONEncoder().encode(self) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// - Parameter text: The text of the database. A text that cannot be read, as a newer version may have written it,
    ///   gives an empty list.
    package init(text: String?) {
        self = text.flatMap { try? JSONDecoder().decode([JobSource].self, from: Data($0.utf8)) } ?? []
    }
}
