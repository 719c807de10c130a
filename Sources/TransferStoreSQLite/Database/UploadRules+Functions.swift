package import GRDB
import TransferJobs
package import TransferStore

extension UploadRules {
    /// The rules as SQL functions of the text in `job.upload`.
    package static let functions = [
        DatabaseFunction("canGoOn", argumentCount: 1, pure: true) { values in record(values)?.canGoOn ?? false },
        DatabaseFunction("holdsSomething", argumentCount: 1, pure: true) { values in
            record(values)?.holdsSomething ?? false
        },
    ]

    private static func record(_ values: [DatabaseValue]) -> UploadRecord? {
        String.fromDatabaseValue(values[0]).flatMap { UploadRecord(text: $0) }
    }
}
