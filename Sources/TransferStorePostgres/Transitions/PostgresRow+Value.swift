import TransferStore

extension PostgresRow {
    /// Returns the value of a job's column, of a row that begins with these columns.
    func value(_ column: JobColumn, in columns: [JobColumn]) -> JobValue {
        columns.firstIndex(of: column).map { value(column, at: $0) } ?? .null
    }

    /// Returns the value of a job's column.
    ///
    /// - Parameter place: The number of the column in the row, counted from 0.
    func value(_ column: JobColumn, at place: Int) -> JobValue {
        switch column.kind {
        case .number, .wait: JobValue(number(place))
        case .flag: .flag(flag(place))
        case .text, .upload: JobValue(text(place))
        case .real: real(place).map { .real($0) } ?? .null
        case .bytes: bytes(place).map { .bytes($0) } ?? .null
        }
    }
}
