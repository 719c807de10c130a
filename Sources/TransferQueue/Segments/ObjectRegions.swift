import Synchronization
import TransferCore
import TransferUpload

/// The regions of buckets that their servers have named, so that one request in the wrong one is all that it takes.
final class ObjectRegions: Sendable {
    private struct Bucket: Hashable {
        let name: String
        let endpoint: String?

        init(_ object: S3Location) {
            name = object.bucket
            endpoint = object.endpoint.map { $0.description + object.endpointPath }
        }
    }

    private let known = Mutex<[Bucket: String]>([:])

    /// The object, in the region of its bucket if a server has named that.
    func place(_ object: S3Location) -> S3Location {
        known.withLock { $0[Bucket(object)] }.flatMap { object.inRegion($0) } ?? object
    }

    /// - Parameter asked: As it was asked for when its server named another region.
    /// - Returns: Whether to ask again: a server that names one region after the other isn't followed.
    func learn(_ other: S3Location, by asked: S3Location) -> Bool {
        known.withLock { known in
            let bucket = Bucket(asked)
            guard let region = known[bucket] else {
                known[bucket] = other.region
                return true
            }
            // Somebody else learned it since.
            if region != asked.region { return true }
            // The region was wrong, or the bucket has moved: the next one begins anew.
            known[bucket] = nil
            return false
        }
    }
}
