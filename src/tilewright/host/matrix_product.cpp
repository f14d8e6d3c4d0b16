// oneDNN's product, which is written for the machine that it runs on.
#include "tilewright/host/matrix_product.h"

#include "tilewright/base/error.h"
#include "tilewright/host/onednn.h"

namespace tilewright {

void multiply_matrices(int64_t rows, int64_t columns, int64_t depth, const MatrixInMemory& a,
                       const MatrixInMemory& b, float* result, int64_t stride, bool adds) {
  const onednn::ThreadScope alone(1);
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', rows, columns, depth, 1, a.data,
                 a.stride, b.data, b.stride, adds ? 1.0f : 0.0f, result, stride);
  TILEWRIGHT_CHECK(status == dnnl_success, "a product of matrices failed");
}

}  // namespace tilewright
