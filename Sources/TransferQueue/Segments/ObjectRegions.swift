import Synchronization
import TransferCore
import TransferUpload

/// The regions of buckets that servers have named, so that a wrong region costs only one request.
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

    /// Returns the object in the region of its bucket, if a server has named that.
    func place(_ object: S3Location) -> S3Location {
        known.withLock { $0[Bucket(object)] }.flatMap { object.inRegion($0) } ?? object
    }

    /// Learns a region from a server's answer.
    ///
    /// - Parameter asked: The object as requested when its server named another region.
    /// - Returns: Whether to ask again. A server that names one region after the other is not followed.
    func learn(_ other: S3Location, by asked: S3Location) -> Bool {
        known.withLock { known in
            let bucket = Bucket(asked)
            guard let region = known[bucket] else {
                known[bucket] = other.region
                return true
            }
            // Another job has learned the region since.
            if region != asked.region { return true }
            // The region was wrong, or the bucket has moved. The next request starts over.
            known[bucket] = nil
            return false
        }
    }
}
