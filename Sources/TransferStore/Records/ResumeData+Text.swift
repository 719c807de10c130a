import FoundationEssentials
package import TransferCore
import TransferEngine

extension ResumeData {
    /// Returns a record as a text of the database.
    package static func text(_ record: ResumeData?) throws -> String? {
        try record.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    }
}
