import FoundationEssentials
import GRDB
import Testing
import TransferQueueFixtures

@testable import TransferStore
@testable import TransferStoreSQLite

/// Values in a damaged database that their columns cannot hold: the transaction fails, and the process continues.
@Suite struct RowDamageTests {
    typealias Look = @Sendable (Row) -> Void

    static let types: [(String, Look)] = [
        ("Int", { let _: Int = $0[stored: 0] }), ("Int32", { let _: Int32 = $0[stored: 0] }),
        ("Int64", { let _: Int64 = $0[stored: 0] }),
        ("UInt8", { let _: UInt8 = $0[stored: 0] }), ("UInt16", { let _: UInt16 = $0[stored: 0] }),
        ("UInt32", { let _: UInt32 = $0[stored: 0] }), ("UInt64", { let _: UInt64 = $0[stored: 0] }),
        ("Double", { let _: Double = $0[stored: 0] }), ("Bool", { let _: Bool = $0[stored: 0] }),
        ("String", { let _: String = $0[stored: 0] }),
        ("Data", { let _: Data = $0[stored: 0] }), ("by name", { let _: Int64 = $0[stored: "value"] }),
    ]

    @Test(arguments: types.indices) func aValueThatIsMissingIsDamage(_ index: Int) throws {
        let (name, look) = Self.types[index]
        let database = try QueueDatabase.temporary()
        let error = #expect(throws: DatabaseError.self, "\(name)") {
            try database.read(leavesPacks: true) { db in
                look(try #require(try Row.fetchOne(db, sql: "SELECT NULL AS value")))
            }
        }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(DamagedDatabase.isReportedBy(try #require(error)))
    }

    @Test func aTextInANumberColumnIsDamageEvenWhereNullIsAllowed() throws {
        let database = try QueueDatabase.temporary()
        let error = #expect(throws: DatabaseError.self) {
            try database.read(leavesPacks: true) { db in
                let row = try #require(try Row.fetchOne(db, sql: "SELECT 'words'"))
                let _: Int64? = row[stored: 0]
            }
        }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
    }

    /// GRDB reports the missing value itself.
    @Test func aSingleValueThatIsMissingIsDamage() throws {
        let database = try QueueDatabase.temporary()
        let error = #expect(throws: DatabaseError.self) {
            try database.read(leavesPacks: true) { db in try Int64.fetchAll(db, sql: "SELECT NULL") }
        }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
    }

    @Test func valuesFromDamageAreNotStored() throws {
        let database = try QueueDatabase.temporary()
        try database.write(leavesPacks: true) { try $0.execute(sql: "CREATE TABLE kept (value)") }
        func store(_ db: Database) throws {
            let row = try #require(try Row.fetchOne(db, sql: "SELECT NULL"))
            let number: Int64 = row[stored: 0]
            try db.execute(sql: "INSERT INTO kept VALUES (?)", arguments: [number])
        }
        #expect(throws: DatabaseError.self) { try database.write(leavesPacks: true, store) }
        #expect(throws: DatabaseError.self) { try database.writeRelaxed(leavesPacks: true, store) }
        #expect(throws: DatabaseError.self) {
            try database.exclusively { db in
                try store(db)
                return ((), .commit)
            }
        }
        let count = try database.read(leavesPacks: true) { try Int.fetchOne($0, sql: "SELECT count(*) FROM kept") }
        #expect(count == 0)
    }

    @Test func valuesThatAreThereAreRead() throws {
        let database = try QueueDatabase.temporary()
        try database.read(leavesPacks: true) { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 7, 'a', NULL, 1.5, x'0102', 1"))
            #expect(
                row[stored: 0] as Int == 7 && row[stored: 1] as String == "a" && row[stored: 2] as Int64? == nil
                    && row[stored: 2] as String? == nil)
            #expect(
                row[stored: 3] as Double == 1.5 && row[stored: 4] as Data == Data([1, 2]) && row[stored: 5] as Bool)
        }
    }
}
