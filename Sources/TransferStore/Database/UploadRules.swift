package import GRDB
package import TransferCore
import TransferJobs

/// Rules for jobs whose upload was left behind in part.
package enum UploadRules {
    /// A body that mustn't be sent twice was on its way when its process ended.
    package static let interrupted = TransferError(
        .mayHaveBeenSent,
        "the program ended while the body was being sent, and it may have arrived; \(CommandPhrases.retry) sends it again"
    )

    /// The rules as functions of SQL text, of `job.upload`.
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
