package import TransferCore
import TransferEngine
import TransferEventLoop
package import TransferJobs

// The values that records give to the columns of their jobs, in one encoding for all stores.

extension JobEnd {
    /// The transition that records the end; `nil` for a job that is removed.
    package var transition: JobTransition? {
        switch outcome {
        case .done: .complete
        case .kept: .keep
        case .failed(let error, _, _): error.code == .sourceChanged ? .failOfChangedSource : .fail
        case .cancelled: .abort
        case .dropped: nil
        }
    }

    /// Returns the value that a column gets by the ``transition``.
    package func value(_ column: JobColumn) throws -> JobValue {
        switch outcome {
        case .done(let receipt, let facts), .kept(let receipt, let facts): receipt.value(column, facts)
        case .failed(let error, let attempts, let host):
            switch column {
            case .errorCode: .text(error.code.rawValue)
            case .errorMessage: .text(error.message)
            case .status: JobValue(error.status)
            case .host: JobValue(host)
            case .attempts: JobValue(attempts)
            case .finalURL: JobValue(finalURL)
            case .notBefore: JobValue(again.map { .now + $0 })
            case .resume: JobValue(try ResumeData.text(resume))
            case .sources: JobValue(sources.text)
            default: .null
            }
        case .cancelled: column == .resume ? JobValue(try ResumeData.text(resume)) : .null
        case .dropped: .null
        }
    }
}

extension JobReceipt {
    /// Returns the value that a column gets by ``JobTransition/complete``.
    package func value(_ column: JobColumn, _ facts: FileStamp?) -> JobValue {
        switch column {
        case .path: JobValue(path)
        case .size: JobValue(facts?.size ?? bytes)
        case .modified: JobValue(facts?.modified)
        case .digest: JobValue(digest?.description)
        case .validator: JobValue(validator)
        case .transferred: JobValue(transferred)
        case .seconds: .real(seconds)
        case .finalURL: JobValue(finalURL)
        case .status: JobValue(status)
        case .response: JobValue(response)
        case .attempts: JobValue(attempts)
        case .unproven: JobValue(unproven)
        case .lengthUnproven: .flag(isLengthUnproven)
        case .proofs: JobValue(proofs.text)
        case .sums: sums.map { .bytes($0.encoded) } ?? .null
        case .sources: JobValue(sources.text)
        default: .null
        }
    }
}

extension JobStep {
    /// Returns the value that a column gets by ``JobTransition/step``.
    package func value(_ column: JobColumn) throws -> JobValue {
        switch column {
        case .attempts: JobValue(attempts)
        case .mirror: JobValue(mirror)
        case .spentMirrors: .number(Int64(bitPattern: spentMirrors))
        case .notBefore: JobValue(due)
        case .askedWait: .number(askedWait.inMilliseconds)
        case .origin: .text(origin)
        case .resume: JobValue(try ResumeData.text(resume))
        case .errorCode: JobValue(error?.code.rawValue)
        case .errorMessage: JobValue(error?.message)
        default: .null
        }
    }
}

extension UploadRules {
    /// Returns the value that a column gets by ``JobTransition/interrupt``.
    package static func value(_ column: JobColumn) -> JobValue {
        switch column {
        case .errorCode: .text(interrupted.code.rawValue)
        case .errorMessage: .text(interrupted.message)
        default: .null
        }
    }
}
