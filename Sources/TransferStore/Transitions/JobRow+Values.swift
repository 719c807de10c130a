import TransferCore
import TransferJobs

extension JobRow {
    /// Returns the value that a column gets by ``JobTransition/restage``, except for the staging.
    package func value(_ column: JobColumn) -> JobValue {
        switch column {
        case .line: JobValue(span?.line)
        case .place: JobValue(span?.column)
        case .width: JobValue(span?.length)
        case .number: JobValue(number)
        case .priority: JobValue(priority)
        case .origin: .text(origin)
        case .network: .text(network)
        case .destination: .text(destination)
        case .spec: .text(text)
        case .isUpload: .flag(isUpload)
        case .fingerprint: .number(fingerprint)
        case .hasSecrets: .flag(hasSecrets)
        case .networkPlaces: JobValue(networkPlaces)
        default: .null
        }
    }
}
