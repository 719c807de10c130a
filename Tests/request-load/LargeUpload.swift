import Foundation
import FoundationNetworking
import TransferNetworking

/// An upload of a file that would not fit into the permitted memory.
struct LargeUpload {
    let url: String
    let file: String

    /// Sends the file as a part of a form. The peak is that of the whole process.
    func runForm() async throws -> Report {
        let file = URL(fileURLWithPath: file)
        let request = Session().upload(
            multipartFormData: { $0.append(file, withName: "file", fileName: "x.bin", mimeType: "a/b") }, to: url)
        let response = await request.serializingData(emptyResponseCodes: [200, 201, 204]).response
        return Report(
            before: 0, after: try OwnMemory.peak(), isRight: response.error == nil && status(response) / 100 == 2)
    }

    /// Sends the file from an input stream. The memory of one small upload is not counted.
    func runStream() async throws -> Report {
        let session = Session()
        _ = await session.upload(streamedBy: { InputStream(data: Data(count: 3_000_000)) }, to: url, method: .put)
            .serializingData(emptyResponseCodes: [200, 201, 204]).response
        let before = try OwnMemory.resident()
        try OwnMemory.resetPeak()
        let file = file
        let request = session.upload(
            streamedBy: { InputStream(fileAtPath: file) ?? InputStream(data: Data()) }, to: url, method: .put)
        let response = await request.serializingData(emptyResponseCodes: [200, 201, 204]).response
        return Report(
            before: before, after: try OwnMemory.peak(),
            isRight: response.error == nil && status(response) / 100 == 2)
    }

    private func status(_ response: AFDataResponse<Data>) -> Int { response.response?.statusCode ?? 0 }
}
