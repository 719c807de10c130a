import FoundationEssentials
import GRDB
import TransferStore

extension Row {
    /// Returns the value of a job's column, of a row that begins with these columns.
    func value(_ column: JobColumn, in columns: [JobColumn]) -> JobValue {
        columns.firstIndex(of: column).map { value(column, at: $0) } ?? .null
    }

    /// Returns the value of a job's column. NULL in a column that has none is a damage, which the subscript reports.
    ///
    /// - Parameter place: The number of the column in the row, counted from 0.
    func value(_ column: JobColumn, at place: Int) -> JobValue {
        switch column.kind {
        case .number where column.mayBeNull, .wait: JobValue(self[stored: place] as Int64?)
        case .number: .number(self[stored: place])
        case .flag where column.mayBeNull: .flag(self[stored: place] as Int64? == 1)
        case .flag: .flag(self[stored: place])
        case .text where column.mayBeNull, .upload: JobValue(self[stored: place] as String?)
        case .text: .text(self[stored: place])
        case .real: (self[stored: place] as Double?).map { .real($0) } ?? .null
        case .bytes: (self[stored: place] as Data?).map { .bytes(Array($0)) } ?? .null
        }
    }
}
