import FoundationEssentials
import TransferJobs

extension [JobSource] {
    /// The list as the database has it; `nil` for none.
    package var text: String? {
        guard !isEmpty, let data = try? JSONEncoder().encode(self) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// - Parameter text: What can't be read, as a newer version may have written it, is none.
    package init(text: String?) {
        self = text.flatMap { try? JSONDecoder().decode([JobSource].self, from: Data($0.utf8)) } ?? []
    }
}
