import FoundationEssentials
package import TransferCore
import TransferEngine

extension ResumeData {
    /// A record as the database has it.
    package static func text(_ record: ResumeData?) throws -> String? {
        try record.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    }
}
