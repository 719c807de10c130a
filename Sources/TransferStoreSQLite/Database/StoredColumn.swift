package import FoundationEssentials
package import GRDB
import Synchronization
import TransferStore

/// The type of a column that rows of the queue's database are read as.
///
/// GRDB's own `row[…]` ends the process where a value cannot be read as the requested type, such as NULL in a column
/// declared NOT NULL. A disk that loses bytes makes such values. The subscript `row[stored: …]` replaces GRDB's in this
/// package. It gives a neutral value and notes the fault, and ``RowDamage`` ends the transaction with `SQLITE_CORRUPT`.
/// So no result that depends on a neutral value leaves the transaction or is stored.
package protocol StoredColumn: DatabaseValueConvertible, StatementColumnConvertible {
    /// The value in the place of one that cannot be read.
    static var neutral: Self { get }
}

extension Int: StoredColumn { package static let neutral = 0 }
extension Int32: StoredColumn { package static let neutral: Int32 = 0 }
extension Int64: StoredColumn { package static let neutral: Int64 = 0 }
extension UInt8: StoredColumn { package static let neutral: UInt8 = 0 }
extension UInt16: StoredColumn { package static let neutral: UInt16 = 0 }
extension UInt32: StoredColumn { package static let neutral: UInt32 = 0 }
extension UInt64: StoredColumn { package static let neutral: UInt64 = 0 }
extension Double: StoredColumn { package static let neutral = 0.0 }
extension Bool: StoredColumn { package static let neutral = false }
extension String: StoredColumn { package static let neutral = "" }
extension Data: StoredColumn { package static let neutral = Data() }
extension Optional: StoredColumn where Wrapped: StoredColumn { package static var neutral: Wrapped? { nil } }

extension Row {
    /// The value of a column by its position.
    package subscript<Value: StoredColumn>(stored index: Int) -> Value {
        do { return try decode(Value.self, atIndex: index) } catch { return RowDamage.neutral(error) }
    }

    /// The value of a column by its name.
    package subscript<Value: StoredColumn>(stored column: String) -> Value {
        do { return try decode(Value.self, forColumn: column) } catch { return RowDamage.neutral(error) }
    }
}

/// The values that could not be read in one transaction.
package final class RowDamage: Sendable {
    /// The damage met in the transaction that this thread is in.
    @TaskLocal private static var current: RowDamage?

    private let words = Mutex<String?>(nil)

    /// Runs the body of a transaction.
    ///
    /// - Throws: `DatabaseError` with `SQLITE_CORRUPT` where a value could not be read, whatever the body returned or
    ///   threw; otherwise the body's own error.
    package static func refused<Value>(_ body: () throws -> Value) throws -> Value {
        let damage = RowDamage()
        let result = Result { try $current.withValue(damage, operation: body) }
        if let words = damage.words.withLock({ $0 }) { throw corrupt(words) }
        do {
            return try result.get()
        } catch let error as RowDecodingError {
            throw corrupt("\(error)")
        }
    }

    fileprivate static func neutral<Value: StoredColumn>(_ error: any Error) -> Value {
        // Every read of rows is in a transaction of QueueDatabase.
        assert(current != nil, "a row was read outside a transaction: \(error)")
        current?.words.withLock { if $0 == nil { $0 = "\(error)" } }
        return .neutral
    }

    private static func corrupt(_ words: String) -> DatabaseError {
        // GRDB adds the row and the statement; the first sentence names the value and its column.
        let sentence = words.prefix { $0 != "\n" }.split(separator: " - ").first.map { String($0) } ?? words
        return DatabaseError(resultCode: .SQLITE_CORRUPT, message: sentence)
    }
}
